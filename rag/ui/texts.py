"""Every sentence of the page that is not data, in one place.

Texts with ``{…}`` are filled with ``str.format``; the values are escaped where the text becomes HTML.
"""

from __future__ import annotations

TITLE = "Footnote"

TAB_CHAT = "Chat"
TAB_INGEST = "Ingest"
TAB_DIAGNOSTICS = "Diagnostics"

# ---------------------------------------------------------------------------------------------------------- status line

STATUS_LOOKING = "Looking for models…"
STATUS_MODEL = "Model"
STATUS_EMBEDDER = "Embedder"
STATUS_DEVICE = "Device"
STATUS_WINDOW = "Window"
STATUS_NO_MODEL = "none, search only"
STATUS_NO_EMBEDDER = "none"
STATUS_TOKENS = "{count} tokens"

# ------------------------------------------------------------------------------------------------------------- side bar

SIDEBAR = "Library, model and conversations"
LIBRARY = "Library"
MODEL = "Model"
EMBEDDER = "Embedder"
EMBEDDER_INFO = "New libraries are built with it; an indexed one keeps its own."
NOTES = "Passages given to the model"
NOTES_AUTO = "auto"
NO_MODEL_CHOICE = "No chat model yet"
ALSO = "Search these too"
NOT_READY = "{label} (not downloaded{size})"
MORE_MODELS = "Get or change models"
PULL_WHICH = "Model to download"
PULL_INFO = "Choose one, or type ollama:NAME. Nothing is downloaded before you press the button."
PULL = "Download"
PULL_STOP = "Stop download"
PULL_DONE = "{model} is ready."
PULL_STOPPED = "Stopped. Pressing Download again goes on where it stopped."
PULL_CHOOSE = "Choose a model to download first."
PULL_BUSY = "A download is already running."

CONVERSATIONS = "Conversations"
CONVERSATION_NEW = "New"
CONVERSATION_UNTITLED = "Untitled"
CONVERSATION_NONE = "None yet. Each one is kept in its library, on this machine."
CONVERSATION_TURNS_ONE = "1 question"
CONVERSATION_TURNS = "{count} questions"
RENAME = "Rename"
EXPORT = "Export as Markdown"
DELETE = "Delete"
DELETE_REALLY = "Delete?"
YES = "Yes"
NO = "No"

# ----------------------------------------------------------------------------------------------------------------- chat

QUESTION_LABEL = "Question"
QUESTION_PLACEHOLDER = "Ask your notes…"
ASK = "Ask"
STOP = "Stop"
STOPPING = "Stopping…"
ANSWER_BUSY = "An answer is still being written. Stop it first."
ANSWER_STOPPING = "The model is still ending the stopped answer. Ask when the button says Ask again."
SEARCHING = "Searching the notes…"
READING_ONE = "Reading 1 passage…"
READING = "Reading {count} passages…"
SEARCHED = "searched: {query}"
SEARCHED_TITLE = "What was searched, and why; unfold to search something else instead"
SEARCHED_FIRST = "searched"
SEARCHED_BESIDE = "beside it"
SEARCHED_WHY = "why"
SEARCHED_HYDE = "made up"
SEARCH_INSTEAD_LABEL = "Not what you meant? Change what is searched:"
SEARCH_INSTEAD = "Search for this instead"
RETRY = "Ask again"
RETRY_TITLE = "The same question, with the search options that are set now"
EDIT = "Edit"
UNANSWERED = "Judged from the search alone; the model was not asked. The nearest passages are shown with their scores."
UNANSWERED_NOTHING = "No passage was found; the model was not asked."
UNANSWERED_NARROW = "Only a part of your notes was searched:"
UNANSWERED_READ_ONE = "The model read 1 passage and found no answer in it."
UNANSWERED_READ = "The model read {count} passages and found no answer in them."
SEARCH_ONLY_NONE = "Your notes do not seem to say. These are the nearest passages."
ASK_ANYWAY = "Ask anyway"
ASK_ANYWAY_TITLE = "Let the model read the nearest passages and answer if it can; the answer is marked"
INSPECT = "Look inside"
INSPECT_TITLE = "Show in Diagnostics what was searched, found and sent to the model"
COPY = "Copy"
COPIED = "Copied"
OUTCOME_STOPPED = "Stopped: this answer is not complete."
OUTCOME_FAILED = "The answer failed."
OUTCOME_FAILED_HINT = "Ask again; if it fails again, see Diagnostics, Health checks."
SOURCES = "Sources"
SOURCES_FOUND = "Passages being read"
SOURCES_NEAREST = "Nearest passages"
SOURCES_NONE = "No passage was found."
CITED = "cited"
NOT_CITED = "not cited"
IN_FILE = "Open the passage"
NORMATIVE_TITLE = "This passage binds: it sets requirements."
INFORMATIVE_TITLE = "This passage explains; it does not bind."
SECTION = "section {number}"
ALSO_IN = "also in {place}"
ALSO_IN_MANY = "also in {count} other passages"
ALSO_IN_TITLE = "Nearly the same text is found there"
FOLLOWED = "followed from {note}"
FOLLOWED_TITLE = "Not for the question itself: another passage refers to it"
JOINED = "{count} neighbouring passages read as one"
AGE = {
    "changed": "changed since it was indexed",
    "gone": "file is gone",
    "old": "from an older version",
}
AGE_TITLES = {
    "changed": "The file has changed on disk since this passage was read. Sync the library, then ask again.",
    "gone": "The file is not in its folder any more.",
    "old": "The file was indexed anew since this answer: the passage may read differently now. Ask again.",
}
AGED_ONE = "1 cited passage is not what the folder says now."
AGED = "{count} cited passages are not what the folder says now."
AGED_HINT = "The cards say what happened. Sync the library, then ask again."
PAGE_LOADING = "Drawing page {page}…"
PAGE_ALT = "Page {page} of {path}, the passage highlighted"
CHIP_MODEL = "Source {number}, cited by the model: {place}"
CHIP_FOOTNOTE = "Source {number}, bound by Footnote from the words: {place}"
CHIP_UNKNOWN = "The model wrote [{number}], but there is no such passage."
CHIP_PENDING = "Source {number}: {place}"
UNSUPPORTED_TITLE = "No passage holds the words of this sentence."
FLAG_TITLES = {
    "number": "This number is not in the cited passage: check it at the source.",
    "unit": "The cited passage has this number with another unit: check it at the source.",
    "date": "This date is not in the cited passage: check it at the source.",
    "name": "This name is not in the cited passage: check it at the source.",
    "quote": "These words stand in quotation marks, and not in the cited passage.",
}
LEGEND_MODEL = "cited by the model"
LEGEND_FOOTNOTE = "bound by Footnote from the words"
LEGEND_UNKNOWN = "no such passage"
LEGEND_UNSUPPORTED = "no passage supports it"
LEGEND_MISSING = "not in the cited passage"
CONTRADICTED = "Another passage says something else ({path}):"

SEARCH_OPTIONS = "Search options"
HELD_TO = "held to"
CLEAR = "Clear"
HELD_HINT = "Several are told apart by commas. The same can be typed in the question:"
HELD_EXAMPLES = (
    "file:heron",
    "folder:standards",
    "after:2024",
    "before:2024-05",
    "section:8.3",
    "is:normative",
    '"exact phrase"',
    "-word",
)
HELD_FILE = "File"
HELD_FOLDER = "Folder"
HELD_SECTION = "Section or clause"
HELD_AFTER = "Not older than"
HELD_BEFORE = "Not newer than"
HELD_PHRASE = "Exact phrase"
HELD_WITHOUT = "Without"
HELD_STANCE = "Binding"
HELD_STANCES = ("all", "only what binds (normative)", "only what explains (informative)")
USE_HYDE = "Search with a made-up passage (HyDE)"
USE_HYDE_INFO = "The model writes what an answer might look like, and that is searched too. Takes seconds."
USE_RERANK = "Sort with a reranker"
USE_RERANK_INFO = "A second model reads question and passage together. Slower, mostly better."
AS_LIBRARY_ON = "as the library: on"
AS_LIBRARY_OFF = "as the library: off"
SWITCH_ON = "on"
SWITCH_OFF = "off"
NOT_THERE = "{what}: {why}"
NO_MODEL_WRITES = "there is no chat model to write it."
WITH_HYDE = "with a made-up passage"
WITHOUT_HYDE = "without a made-up passage"
WITH_RERANK = "sorted by a reranker"
WITHOUT_RERANK = "not sorted by a reranker"

EMPTY_SAMPLE_TITLE = "Start with the sample notes"
EMPTY_SAMPLE = "A dozen short notes come with Footnote, so that you can try it before you add your own."
EMPTY_SAMPLE_ACTION = "Index the sample notes"
EMPTY_LIBRARY_TITLE = "This library is empty"
EMPTY_LIBRARY = "Add a folder, or drop files, in the Ingest tab. Then ask here."
EMPTY_LIBRARY_ACTION = "Add notes"
EMPTY_INDEXING_TITLE = "Indexing…"
EMPTY_INDEXING = "You can ask already, but answers only know what is read so far."
EMPTY_READY_TITLE = "Ask “{library}”"
EMPTY_READY = "Answers come with the passages they rest on. What the notes do not say is not answered."
EMPTY_EXAMPLES = "For instance"
NO_MODEL_TITLE = "No chat model yet"
NO_MODEL = "Footnote searches and shows the passages meanwhile. With a model it also answers."
NO_MODEL_ACTION = "Download {label} ({size})"
DOWNLOADING = "Downloading {model}"

# --------------------------------------------------------------------------------------------------------------- ingest

FOLDER_LABEL = "Folder on this machine"
FOLDER_PLACEHOLDER = "/home/you/notes"
FOLDER_EMPTY = "Type the folder's path first."
PREVIEW = "Preview"
INDEX = "Index"
VERIFY = "Check every file's content"
VERIFY_TITLE = "Compares the content of every file, not only its size and time. Slower; changes nothing."
SYNC_STOP = "Stop"
SYNC_RESUME = "Resume"
ROOTS = "Folders of this library"
DROP_TITLE = "Drop files or a folder here"
DROP_INFO = "They are copied into Footnote's own folder, sub-folders included, and stay on this machine."
DROP_FILES = "Choose files"
DROP_FOLDER = "Choose a folder"
DROP_PROGRESS = "{done} of {total} copied"
DROP_DONE_ONE = "1 file copied."
DROP_DONE = "{count} files copied."
DROP_NOTHING = "Nothing to copy was found in what was dropped."
DROP_BAD_PATH = "The file name {name} cannot be kept."

PLAN_TITLE = "What indexing would do"
PLAN_NOTHING = "Everything is up to date: nothing to do."
PLAN_NOTHING_VERIFIED = "The content of every file was compared. Everything is up to date: nothing to do."
PLAN_EMPTY = "No file that Footnote reads was found in this folder."
PLAN_TOTAL = "{count} to index, {size}"
PLAN_TOTAL_FILES_ONE = "1 file"
PLAN_TOTAL_FILES = "{count} files"
PLAN_TIME = "about {time} at the speed measured here"
PLAN_TIME_UNKNOWN = "the time is not known yet: nothing was indexed here so far"
PLAN_MORE = "and {count} more"
PLAN_GONE_TITLE = "Remove them from the library?"
PLAN_GONE_ONE = (
    "The library holds 1 file of this folder. It would be removed from the library; nothing on disk is touched."
)
PLAN_GONE = (
    "The library holds {count} files of this folder. "
    "They would be removed from the library; nothing on disk is touched."
)
PLAN_GONE_YES = "Yes, remove them from the library"
MOVED_FROM = "was {place}"
COPY_OF = "same as {place}"
CHANGE_NEW = "new"
CHANGE_CHANGED = "changed"
CHANGE_MOVED = "moved"
CHANGE_REMOVED = "removed"
CHANGE_DUPLICATE = "duplicate"
CHANGE_UNCHANGED = "unchanged"
CHANGE_RETRY = "tried again"
CHANGE_TITLES = {
    "moved": "Moved or renamed: nothing is read again.",
    "duplicate": "The same bytes as another file, which is the one that is searched.",
    "retry": "Not read the last time, and not changed since.",
    "removed": "No longer in the folder; the index forgets them.",
}
SKIPPED_ONE = "1 path is left out"
SKIPPED = "{count} paths are left out"

STATE_EMPTY = "No folder yet"
STATE_IN_STEP_ONE = "In step with its folder"
STATE_IN_STEP = "In step with {count} folders"
STATE_CHANGED_ONE = "1 file changed"
STATE_CHANGED = "{count} files changed"
STATE_WATCHING = "watching"
STATE_SYNCING = "Syncing now"
STATE_LOOKING = "Looking through its folders…"
STATE_CHECKED = "checked {time}"
STATE_MISSING = "Missing or empty: {folders}. Preview it to decide."
SYNC = "Sync"

JOB_RUNNING = "Indexing {root}"
JOB_STOPPING = "Stopping after this file…"
JOB_STOPPED = "Stopped. What was read is kept; Resume goes on from here."
JOB_INTERRUPTED = "Indexing was interrupted. What was read is kept; Resume goes on from here."
JOB_FAILED = "Indexing failed."
JOB_DONE = "Done in {seconds}: {changes}."
JOB_DONE_NOTHING = "Done in {seconds}: nothing had changed."
JOB_BAD_ONE = "1 file was not read, or only partly"
JOB_BAD = "{count} files were not read, or only partly"
JOB_STARTING = "Looking through the folder…"
JOB_FILES = "{done} of {total} files"
JOB_CHUNKS = "{count} passages"
JOB_SPEED = "{speed} passages/s"
JOB_LEFT = "about {time} left"

FILES_TITLE = "Files"
FILES_NONE = "No file yet. Type a folder's path above, or drop files."
FILES_SEARCH = "Search files"
FILES_SEARCH_PLACEHOLDER = "Name, state or reason"
FILES_NO_MATCH = "No file matches “{needle}”."
FILES_NONE_SUCH = "No file is in this list."
FILES_COPIES = "{count} of them copies"
FILES_COPIES_ONE = "1 of them a copy"
FILES_NEW_ONE = "1 new file in the folders is not in the library yet."
FILES_NEW = "{count} new files in the folders are not in the library yet."
FILTER = "Show"
FILTER_ALL = "All"
FILTER_FAILED = "Not read"
FILTER_PARTLY = "Partly"
FILTER_CHANGED = "Changed on disk"
FILTER_COPIES = "Copies"
DISK_CHANGED = "Changed on disk since it was indexed."
DISK_MOVED = "Moved or renamed on disk since it was indexed."
DISK_REMOVED = "No longer in its folder."
DISK_MISSING = "Its folder cannot be found at present."
FILES_SHOWN = "{shown} of {total} shown; search to narrow."
FILES_ONE = "1 file"
FILES_MANY = "{count} files"
FILES_READ = "{count} read"
FILES_PARTLY = "{count} partly"
FILES_FAILED = "{count} not"
COLUMN_FILE = "File"
COLUMN_STATE = "State"
COLUMN_PAGES = "Pages"
COLUMN_CHUNKS = "Passages"
COLUMN_SIZE = "Size"
COLUMN_ENCODING = "Encoding"
COLUMN_DATE = "Indexed"
COLUMN_ACTIONS = "Actions"
STATE_INDEXED = "read"
STATE_PARTLY = "partly"
STATE_FAILED = "not read"
OPEN_XRAY = "Look inside {path}"
ASK_PASSWORD = "Password…"
ASK_OCR = "OCR…"
ASK_ENCODING = "Encoding…"
REREAD = "Read again"
REMOVE = "Remove"
REMOVE_TITLE = "Forget this file. The file itself stays on disk; a dropped copy is deleted."
REMOVED_FILE = "{path} is removed from the library."
REREAD_FILE = "{path}: {state}."
REREAD_FILE_WHY = "{path}: {state}. {reason}"

PAGES_ONE = "1 page"
PAGES_MANY = "{count} pages"
PASSAGES_ONE = "1 passage"
PASSAGES_MANY = "{count} passages"
XRAY_LABEL = "What was read from the file"
XRAY_CLOSE = "Close"
XRAY_LOADING = "Looking…"
XRAY_WORKING = "Reading the file again…"
XRAY_LOST = "That did not work: Footnote gave no answer. Is it still running?"
XRAY_STALE = "The file has changed on disk since it was indexed: what is shown here is the older version."
XRAY_NOTHING = "Nothing was read from this file."
XRAY_COPY = "This file has the same bytes as {path}. That one is searched and cited; look there for the text."
XRAY_TITLE = "Title"
XRAY_AUTHORS = "Authors"
XRAY_YEAR = "Year"
XRAY_FOLDER = "Folder"
XRAY_MODIFIED = "File date"
XRAY_INDEXED = "Indexed"
XRAY_SET_ENCODING = "{encoding} (set by you)"
XRAY_REREAD = "Read again"
XRAY_OCR = "Recognise text (OCR)"
XRAY_OCR_INFO = "{engine} reads the text from the page images. It takes seconds a page, and stays on this machine."
XRAY_OCR_MISSING = (
    "Text recognition (OCR) would help here, but no engine is installed. Install one with: {command}. "
    "Then start Footnote again."
)
XRAY_OCR_COMMAND = "pip install rapidocr onnxruntime"
XRAY_OCR_OFF = "Read without OCR"
XRAY_ENCODING = "Encoding"
XRAY_ENCODING_INFO = "If the letters look wrong, choose the encoding the file was written in, or type its name."
XRAY_ENCODING_FIND = "found out (auto)"
XRAY_ENCODING_UNKNOWN = "“{name}” is no text encoding that Footnote knows."
XRAY_ENCODING_HINT = "Choose one of the list, or leave the field empty to have it found out."
XRAY_ENCODING_SET = "Read with it"
XRAY_PASSWORD = "Password of this file"
XRAY_PASSWORD_INFO = (
    "Kept in memory until Footnote closes, never written to disk. Other files are tried with it at the next sync."
)
XRAY_PASSWORD_GIVE = "Open with it"
XRAY_PASSWORD_EMPTY = "Type the password first."
XRAY_PAGE = "Page {page} of {count}"
XRAY_PART = "Part {page} of {count}"
XRAY_PREVIOUS = "Previous"
XRAY_NEXT = "Next"
XRAY_GO = "Go to page"
XRAY_GO_PART = "Go to part"
XRAY_PROBLEMS_ONLY = "Problem pages only ({count})"
XRAY_IMAGE = "Page {page} as it is printed"
XRAY_IMAGE_LOADING = "Drawing page {page}…"
XRAY_TEXT = "Text that was taken from it"
XRAY_TEXT_WHOLE = "Text that was taken from the file"
XRAY_NO_TEXT = "No text was taken from this page."
XRAY_PASSAGE = "Passage {number}"
XRAY_TOKENS_ONE = "1 token"
XRAY_TOKENS = "{count} tokens"
XRAY_CONTINUED = "continued"
XRAY_SHARED = "Also the end of the passage above, so that no sentence is cut off."
XRAY_BETWEEN = "In no passage: this is not searched."
XRAY_WITH = "Read together with"
XRAY_REREAD_DONE = "Read again: {state}. {passages}."
XRAY_REREAD_DONE_WHY = "Read again: {state}. {reason}"
VERDICT_PAGE = {
    "text": "text",
    "recognised": "recognised",
    "scan": "scan",
    "empty": "empty",
    "garbled": "garbled",
    "damaged": "damaged",
}
VERDICT_MEANS = {
    "text": "",
    "recognised": "read from the image by OCR: check it against the picture",
    "scan": "an image without text",
    "empty": "nothing is printed on it",
    "garbled": "the characters are not what is printed",
    "damaged": "it could not be read",
}
VERDICT_PAGES = {
    "text": "{count} text",
    "recognised": "{count} recognised (OCR)",
    "scan": "{count} scan",
    "empty": "{count} empty",
    "garbled": "{count} garbled",
    "damaged": "{count} damaged",
}

PAPERS = "Papers from arXiv"
PAPERS_WANTED = "Ids, links or a search"
PAPERS_PLACEHOLDER = "2005.11401, https://arxiv.org/abs/1706.03762, or: retrieval augmented generation"
PAPERS_INFO = (
    "Fetching asks arxiv.org over the network, only when you press the button. It sends what is typed here and nothing "
    "of your notes. Papers come with three seconds between them, into the library's own folder, and are then indexed."
)
PAPERS_LIMIT = "At most"
PAPERS_FETCH = "Fetch papers"
PAPERS_STOP = "Stop"
PAPERS_EMPTY = "Type ids, links or words to search for first."
PAPERS_LOOKING = "Asking arxiv.org…"
PAPERS_RUNNING = "Fetching “{wanted}”"
PAPERS_STOPPING = "Stopping after this paper…"
PAPERS_COUNT = "{done} of {total} papers"
PAPERS_FETCHED_ONE = "1 paper fetched"
PAPERS_FETCHED = "{count} papers fetched"
PAPERS_SKIPPED_ONE = "1 was there already"
PAPERS_SKIPPED = "{count} were there already"
PAPERS_FAILED_ONE = "1 could not be had"
PAPERS_FAILED = "{count} could not be had"
PAPERS_NONE = "arxiv.org knows no paper for this."
PAPERS_STOPPED = "Stopped. What was fetched is kept; fetching the same again goes on from here."
PAPERS_INTERRUPTED = "Fetching was interrupted. Fetching the same again goes on from here."
PAPERS_BROKEN = "The papers could not be fetched."

LIBRARY_SETTINGS = "Settings of this library"
SETTINGS_INCLUDE = "Include: read only these"
SETTINGS_INCLUDE_INFO = "One pattern a line, as in .gitignore. Empty: everything readable."
SETTINGS_INCLUDE_PLACEHOLDER = "*.pdf\n/papers/"
SETTINGS_EXCLUDE = "Exclude: leave these out"
SETTINGS_EXCLUDE_INFO = "One pattern a line. !pattern brings back what is left out by default."
SETTINGS_EXCLUDE_PLACEHOLDER = "drafts/\n*.bak"
SETTINGS_PROFILE = "How files are cut into passages"
SETTINGS_PROFILE_INFO = "By sections suits papers, manuals and standards; by length suits notes without headings."
SETTINGS_PROFILES = {"sections": "by sections and clauses", "words": "by length alone"}
SETTINGS_MINIMUM = "Shortest passage, tokens"
SETTINGS_CHUNK = "Longest passage, tokens"
SETTINGS_OVERLAP = "Overlap, tokens"
SETTINGS_AS_SET = "as set: {value}"
SETTINGS_LAYOUT = "Read PDFs with layout analysis"
SETTINGS_LAYOUT_INFO = "Better with tables and unusual columns; about half a second a page."
SETTINGS_OCR = "Recognise text on scanned pages and images (OCR)"
SETTINGS_OCR_INFO = "With {engine}; seconds a page."
SETTINGS_OCR_NONE = "No engine is installed. Install one with: {command}"
SETTINGS_WATCH = "Watch the folders"
SETTINGS_WATCH_INFO = "Syncs by itself, soon after a file changes, while Footnote runs."
SETTINGS_SAVE = "Save settings"
SETTINGS_SAVED = "Saved."
SETTINGS_SAVED_NOTHING = "Saved. The files that are indexed already stay as they are."
SETTINGS_SAVED_TOUCHES = "Saved. The next sync touches {count}:"

LIBRARIES = "Libraries"
LIBRARY_NAME = "Name of a new library"
LIBRARY_NAME_PLACEHOLDER = "Thesis"
LIBRARY_CREATE = "Create library"
LIBRARY_CREATED = "Library “{name}” is ready. Add a folder to it."
LIBRARY_RENAME = "Rename “{name}” to"
LIBRARY_RENAME_DO = "Rename"
LIBRARY_RENAMED = "The library is now called “{name}”."
LIBRARY_REBUILD = "Rebuild"
LIBRARY_REBUILD_INFO = "Rebuild empties the index and reads the folders again, with the embedder that is chosen now."
LIBRARY_DELETE = "Delete “{name}”…"
LIBRARY_DELETE_ASK = (
    "Delete the library “{name}” with its index, its conversations and the copies of dropped files? "
    "Files in your own folders stay where they are."
)
LIBRARY_DELETE_YES = "Delete it"
LIBRARY_DELETE_NO = "Keep it"
LIBRARY_DELETED = "Library “{name}” is deleted."

# ---------------------------------------------------------------------------------------------------------- diagnostics

SEARCH_LABEL = "Search without answering"
SEARCH = "Search"
LAST_QUESTION = "Last question"
PART_ANSWER = "One answer"
PART_MEASURE = "My notes, measured"
PART_MACHINE = "This machine"
DIAGNOSTICS_EMPTY = "Ask something in Chat, or search here: then this page shows what was found, and why."
SECTION_QUERY = "What was searched"
SECTION_EVIDENCE = "Evidence"
SECTION_PROMPT = "The prompt, as sent"
SECTION_WINDOW = "The window"
SECTION_TIMES = "Where the time went"
HEALTH_AGAIN = "Check again"
HEALTH_WAITING = "Checking…"
QUESTION_TYPED = "typed"
QUERY_SEARCHED = "searched"
QUERY_NOTE = "note"
QUERY_HYPOTHETICAL = "made up"
QUERY_HELD_TO = "held to"
QUERY_QUOTED = "quoted"
QUERY_EVERYTHING = "nothing: everything was searched"
SECTION_STAGES = "Steps of the search"
COLUMN_STAGE = "Step"
COLUMN_SCORE = "Score"
COLUMN_FOUND = "Found"
COLUMN_WEIGHT = "Weight"
COLUMN_WHY = "Why"
NO_VOTE = "no vote"
STAGE_FOLDED = "+ {count} folded"
FATE_READ = "in the prompt as [{number}]"
FATE_JOINED = "in the prompt as [{number}], joined with its neighbours ({count} passages)"
FATE_COPIES_ONE = "1 copy folded into it"
FATE_COPIES = "{count} copies folded into it"
NO_PROMPT = "Nothing was sent to a model."
VERDICT_ENOUGH = "enough"
VERDICT_SOME = "some"
VERDICT_NONE = "none"
COLUMN_RANK = "#"
COLUMN_PASSAGE = "Passage"
COLUMN_TOKENS = "Tokens"
WINDOW_SYSTEM = "system"
WINDOW_HISTORY = "history"
WINDOW_PASSAGES = "passages"
WINDOW_QUESTION = "question"
WINDOW_ANSWER = "room for the answer"
WINDOW_FREE = "free"
WINDOW_OVER = "did not fit"
WINDOW_OURS = "Prompt: {used} tokens by our {kind}."
WINDOW_READ = "The model itself read {read}."
WINDOW_UNTOLD = "The model has not told how much it read."
WINDOW_WRITTEN = "The answer took {count} tokens of its room."
WINDOW_ALARM = "About {unread} tokens of the prompt were not read by the model."
WINDOW_ALARM_HINT = (
    "Its server cut the prompt: what is left out is often the beginning, with the instructions and the best passages. "
    "Give that server a larger window, or lower FOOTNOTE_CONTEXT_TOKENS to the one it has."
)
WINDOW_SHORT_ONE = "1 passage that was wanted did not fit."
WINDOW_SHORT = "{count} passages that were wanted did not fit."
WINDOW_SHORT_HINT = "Raise FOOTNOTE_CONTEXT_TOKENS, or lower FOOTNOTE_ANSWER_TOKENS; the ledger names them."
WINDOW_FORGOTTEN = "{count} earlier turns of the conversation were left out."
WINDOW_EXACT = "count with its tokenizer"
WINDOW_ESTIMATE = "cautious estimate"
WINDOW_TOTAL = "of {total} tokens"
STATE_OK = "ok"
STATE_WARNING = "look"
STATE_ERROR = "broken"
STATE_OFF = "off"

# Citation audit
SECTION_AUDIT = "Used and quoted: sentence by sentence"
AUDIT_SENTENCES_ONE = "1 sentence"
AUDIT_SENTENCES = "{count} sentences"
AUDIT_CLEAN = "Every sentence is cited, and what it says stands in the cited passage."
AUDIT_MISSING = {
    "number": ("1 number is not in the cited text", "{count} numbers are not in the cited text"),
    "unit": ("1 number has another unit in the cited text", "{count} numbers have another unit in the cited text"),
    "date": ("1 date is not in the cited text", "{count} dates are not in the cited text"),
    "name": ("1 name is not in the cited text", "{count} names are not in the cited text"),
    "quote": ("1 quotation is not in the cited text", "{count} quotations are not in the cited text"),
}
AUDIT_UNKNOWN = "{numbers} cites nothing: there is no such passage"
AUDIT_CONTRADICTED_ONE = "another passage says something else"
AUDIT_CONTRADICTED = "{count} times another passage says something else"
AUDIT_OPPOSED = "Another passage says something else:"
AUDIT_UNREAD = "(found, not given to the model)"
AUDIT_UNCITED_ONE = "1 sentence without a citation"
AUDIT_UNCITED = "{count} sentences without a citation"
AUDIT_NO_CITATION = "No citation: no passage that the model read holds enough of its words."
AUDIT_LACKS = {
    "number": "is a number that the cited passage does not have.",
    "unit": "has another unit in the cited passage.",
    "date": "is a date that the cited passage does not have.",
    "name": "is a name that the cited passage does not have.",
    "quote": "is quoted, but not in the cited passage in these words.",
}
AUDIT_LACKS_ALL = {
    "number": "is a number that no passage in the prompt has.",
    "unit": "has another unit in the passages of the prompt.",
    "date": "is a date that no passage in the prompt has.",
    "name": "is a name that no passage in the prompt has.",
    "quote": "is quoted, but in no passage of the prompt in these words.",
}
AUDIT_ELSEWHERE = "It is in {numbers}."
AUDIT_OVERLAP = "words held"
AUDIT_VERBATIM = "word for word"
AUDIT_TRANSLATED = (
    "The answer is in another language than a passage it cites. Numbers, units and dates were compared; names and "
    "quoted words were not."
)
AUDIT_SCOPE = (
    "No model was asked for this. It compares figures, units, dates, names and quoted words, however they are written: "
    "10 mm is 1 cm. It cannot tell whether a number stands with the right thing, and what was rounded, counted or "
    "reckoned is marked."
)

# Diagnostics: two answers side by side
COMPARE = "Compare: with and without the notes, or two models"
COMPARE_INFO = (
    "The same question, seed and settings twice. Without the notes you see what the model says by itself; with another "
    "model, whether a larger one is worth its time."
)
COMPARE_NOTES_DO = "With and without notes"
COMPARE_MODELS_DO = "Two models"
COMPARE_OTHER = "The other model"
COMPARE_NO_OTHER = "There is no other chat model to compare with. Fetch or start one, then open this box again."
COMPARE_NO_OTHER_CHOICE = "none yet"
COMPARE_NOTHING_SHOWN = "Ask something in Chat, or search above: then there is a question to compare."
COMPARE_BUSY = "A comparison is running. Stop it first."
COMPARE_AFTER_CHAT = "An answer is being written in Chat. The comparison begins after it."
COMPARE_STOP = "Stop"
COMPARE_STOPPED = "Stopped."
COMPARE_WITH = "With the notes"
COMPARE_WITHOUT = "Without the notes"
COMPARE_ALONE = "no notes"
COMPARE_NOTES_ONE = "1 note"
COMPARE_NOTES = "{count} notes"
COMPARE_KEPT = "the answer that Chat gave"
COMPARE_OPENING = "The other model"
COMPARE_WAITING = "Waits for the other side…"
COMPARE_WRITING = "Reading the question…"
COMPARE_DISAGREE = "They disagree: from the notes comes one thing, from the model by itself another."
COMPARE_MODELS_DISAGREE = "They disagree, though both had the same notes."
COMPARE_FROM_NOTES = "The answer comes from the notes: the model does not say this by itself."
COMPARE_KNOWN = "The notes say so, and the model says the same without them."
COMPARE_NOT_FROM_NOTES = "Not all of the answer is in the notes: the model adds something by itself."
COMPARE_REFUSED = "Your notes do not seem to say. What the model says without them is its own."
COMPARE_MISSED = "The answer says that the notes are silent, but a passage holds what the model says without them."
COMPARE_BOTH_REFUSE = "Both say that the notes do not say."
COMPARE_ONE_REFUSES = "One answers; the other says that the notes do not say."
COMPARE_HELD = "Both answers are held by the notes, and they do not disagree."
COMPARE_UNHELD = "They do not disagree, but something is said that the notes do not hold."
ORIGINS = {
    "notes": "from the notes",
    "both": "in the notes, and the model says so itself",
    "model": "the model says so itself",
    "disagree": "they disagree",
    "unsure": "the model says that it does not know",
}
LEGEND_SENTENCE = "text"
COMPARE_COST = "What it cost"
COMPARE_FIRST = "First word after"
COMPARE_GENERATION = "Writing"
COMPARE_LOADING = "Loading the model before"
COMPARE_PROMPT = "Tokens read"
COMPARE_WRITTEN = "Tokens written"
COMPARE_SPEED = "Tokens a second"
COMPARE_SENTENCES = "Sentences that the notes hold"
COMPARE_OF = "{count} of {total}"

# One answer: the five steps and the ledger
STEPS = {
    "read": ("Read", "Was the text taken from its file, and is the file still the same?"),
    "found": ("Found", "Did a search find it?"),
    "kept": ("Kept", "Did it stay in the ranking, or was it lost or folded into another?"),
    "fitted": ("Fitted", "Did it go into the prompt, and did the model read all of it?"),
    "used": ("Used", "Does the answer say where it comes from, and does that place say the same?"),
}
STEPS_LABEL = "From file to answer, step by step"
STEP_STATES = {"good": "fine", "look": "look", "bad": "wrong", "none": "–"}
STEP_NOT_REACHED = "It did not come so far."
FACTS = {
    "files": ("1 file in the library", "{count} files in the library"),
    "failed": ("1 not read: {names}", "{count} not read: {names}"),
    "partly": ("1 read in part: {names}", "{count} read in part: {names}"),
    "changed": ("1 has changed on disk: {names}", "{count} have changed on disk: {names}"),
    "stale": (
        "the model was given 1 file that has changed since: {names}",
        "the model was given {count} files that have changed since: {names}",
    ),
    "found": ("1 passage found", "{count} passages found"),
    "verdict_enough": ("", "the notes seem to speak of it"),
    "verdict_some": ("", "the notes may speak of it"),
    "verdict_none": ("", "the notes do not seem to speak of it"),
    "across": ("", "question and passages are in different languages"),
    "no_vote": ("", "the search by words has no vote"),
    "held_to": ("", "held to {0}"),
    "loosened": ("quoted words that no passage holds", "quoted words that no passage holds"),
    "kept": ("1 in the ranking", "{count} in the ranking"),
    "folded": ("1 folded into one nearly the same", "{count} folded into others nearly the same"),
    "lost": ("1 not among the best", "{count} not among the best"),
    "sent": ("1 in the prompt, {0} of {1} tokens", "{count} in the prompt, {0} of {1} tokens"),
    "no_room": ("1 did not fit the window", "{count} did not fit the window"),
    "beyond": ("1 not wanted beside better ones", "{count} not wanted beside better ones"),
    "forgotten": ("1 earlier turn left out", "{count} earlier turns left out"),
    "not_told": ("", "the model has not told how much it read"),
    "cut": ("", "the model read only {0} of about {1} tokens"),
    "read": ("", "the model read it: {0} tokens by its own count"),
    "only_searched": ("", "only searched"),
    "not_asked": ("", "no model was asked"),
    "refused": ("", "the model says that these passages do not hold it"),
    "failed_answer": ("", "the model broke off"),
    "stopped": ("", "the answer was stopped"),
    "length": ("", "the answer was cut at {count} tokens"),
    "cited": ("1 passage cited", "{count} passages cited"),
    "uncited": ("", "no passage is cited"),
    "unknown": ("1 citation of nothing", "{count} citations of nothing"),
    "missing": ("{names} is not in what is cited", "not in what is cited: {names}"),
    "contradicted": ("another passage says something else: {names}", "other passages say something else: {names}"),
    "unsupported": ("1 sentence without support", "{count} sentences without support"),
}
"""What is to be known of a step, for one and for more; what has no count is written second."""

FACT_HINTS = {
    "files": "Index a folder in the Ingest tab.",
    "failed": "If the answer should be in there: the list below has each reason, and Ingest what to do.",
    "partly": "If the answer should be in there: the list below says what could not be read.",
    "changed": "Sync the library in Ingest, then ask again.",
    "stale": "Sync the library in Ingest, then ask again.",
    "found": "Search for words that you know stand in your notes.",
    "verdict_some": "Read the passages below before you believe the answer.",
    "verdict_none": "Ask with words that your notes use, or look below why a passage that you know was not found.",
    "loosened": "They were searched as words.",
    "no_room": "Raise FOOTNOTE_CONTEXT_TOKENS, or lower FOOTNOTE_ANSWER_TOKENS.",
    "forgotten": "Put what matters of the conversation into the question.",
    "cut": "What the answer says may not come from your notes: see the window below.",
    "refused": "If one of them does hold it, ask again in its words, or choose a larger model.",
    "failed_answer": "Ask again, or choose another model.",
    "length": "Raise FOOTNOTE_ANSWER_TOKENS, or ask for less at once.",
    "uncited": "It may not come from your notes: compare it with the passages.",
    "unknown": "The model made up a source: compare the sentence with the passages.",
    "missing": "Look it up in the passage before you rely on it.",
    "contradicted": "Both are shown below: decide which of them holds.",
    "unsupported": "They are marked below: compare them with the passages.",
}
FIRST_BAD = "Look first at “{name}”: {said}."
FIRST_LOOK = "Worth a look, “{name}”: {said}."
FIRST_BEFORE = "Before that, see “{name}”."
FIRST_NONE = "Nothing stands out: the text was read, found, kept, fitted and used."
FIRST_NONE_SEARCHED = "Nothing stands out so far."
ONLY_SEARCHED = "searched without answering"
SECTION_READING = "Files to look at"
READING_FAILED = "not read"
READING_PARTLY = "partly"
READING_CHANGED = "changed"
READING_MORE = "{count} more are listed in Ingest."
READING_INGEST = "Open Ingest"
SECTION_LEDGER = "Every passage, and how far it came"
GATES = {"found": "found", "kept": "kept", "sent": "in the prompt", "read": "read by the model", "cited": "cited"}
COLUMN_WAY = "Way"
LEDGER_ALL = "Show all {count}"
LEDGER_WHY = "Why this far?"
LEDGER_LOOK = "Look inside the file"
BACK_TO_CHAT = "To the chat"
STOPS = {
    "cited": "cited",
    "folded": "nearly the same as number {rank}: folded into it",
    "lost": "not among the best: lost when the searches were merged or sorted anew",
    "not_asked": "not sent: the notes did not seem to say, so no model was asked",
    "no_room": "does not fit the window",
    "not_wanted": "not wanted: others were better",
    "not_told": "sent; the model has not told how much it read",
    "cut": "sent, but maybe not read: the model read much less than was sent",
    "uncited": "read, and not cited",
}
PROMPT_MESSAGES_ONE = "1 message"
PROMPT_MESSAGES = "{count} messages"
PROMPT_TOKENS = "{count} tokens"
PROMPT_AS_MESSAGES = "As messages"
PROMPT_RENDERED = "As the model read it"
PROMPT_RENDERED_COUNT = "{count} tokens by our {kind}"
PROMPT_RENDER = "Show it as the model read it"
PROMPT_RENDER_TITLE = "Asks the model’s server for the one text that its chat template makes of the messages."
TIMES_TOTAL = "{total} in all"
TIMES_TOKENS = "{count} tokens, {speed}/s"

# Diagnostics: my notes, measured
MEASURE_INFO = (
    "Keep questions whose answers you know, then see how many of them this library finds. Questions come from Chat "
    "(“This passage answers it”, “My notes do not say”), from typing, or from a file."
)
SECTION_QUESTIONS = "Questions of this library"
QUESTIONS_COUNT = "{answerable} answerable, {unanswerable} not"
QUESTIONS_NONE = "No question yet. Add one below, or mark an answer in Chat."
QUESTIONS_SAMPLE = "Take in the questions on the sample notes"
QUESTIONS_MORE = "{count} more are not shown; the export has them all."
QUESTIONS_IMPORT = "Import…"
QUESTIONS_EXPORT = "Export"
QUESTIONS_IMPORTED = "{count} questions were taken in."
QUESTION_ADD = "Add a question"
QUESTION_ADD_DO = "Add question"
QUESTION_LOOK = "Look"
QUESTION_LOOK_TITLE = "Show what was found for it, step by step"
QUESTION_DROP = "Drop"
QUESTION_DROP_TITLE = "Take this question out"
QUESTION_KEPT_ANSWER = "Kept: “{question}” is answered by {path}. Measure it in Diagnostics."
QUESTION_KEPT_NONE = "Kept: “{question}” is not answered by your notes. Measure it in Diagnostics."
POINT_ANSWERS = "This passage answers it"
POINT_ANSWERS_TITLE = "Keep the question, with this passage as its answer, to measure the library with"
POINT_NOWHERE = "My notes do not say"
POINT_NOWHERE_TITLE = "Keep the question as one that the notes do not answer, to measure the library with"
POINT_DONE = "✓ Kept"
POINT_GONE = "That passage is not there any more. Ask again, then mark it."
ANSWERABLE_LABEL = "Do your notes answer it?"
ANSWERABLE_INFO = "If they do, say below where, as far as you know."
ANSWERABLE = "Yes"
UNANSWERABLE = "No"
PLACE_FILE = "File"
PLACE_PAGE_LABEL = "Page"
PLACE_PHRASE = "Words of the passage"
PLACE_PHRASE_AS = "as they stand there"
PAGE_IS_NO_NUMBER = "“{typed}” is no page. Pages are counted from 1."
PLACE_PAGE = "page {page}"
PLACE_POINTED = "the passage you pointed at"
PLACE_NOWHERE = "not in the notes"
PLACE_SOMEWHERE = "somewhere"
PLACE_MISSING = "Cannot be found by any search: {why}."
COLUMN_QUESTION = "Question"
COLUMN_ANSWERED_BY = "Answered by"
COLUMN_LATEST = "Latest measurement"
WENT_REFUSED = "refused, rightly"
WENT_ANSWERED = "answered, wrongly"
WENT_REFUSED_EVIDENCE = "refused for want of evidence"
WENT_REFUSED_MODEL = "refused by the model"
WENT_NOT_REFUSED = "not refused"
WENT_NOT_FOUND = "not found"
WENT_FOUND = "found at {ranks}"
WENT_FOUND_SOME = "found at {ranks}, of {count} places"
WENT_CITED = ", cited"
WENT_NOT_CITED = ", not cited"
MEASURE = "Measure"
MEASURE_STOP = "Stop"
MEASURE_ANSWERS = "Have the model answer, too"
MEASURE_ANSWERS_INFO = "Shows what the model refuses and cites. It takes as long as asking every question in Chat."
MEASURE_ANSWERS_NONE = "There is no chat model, so only the search can be measured."
MEASURE_RUNNING = "{done} of {total} questions, {right} of them right"
MEASURE_STOPPING = "Stopping after this question…"
MEASURE_BUSY = "“{library}” is being measured; one library at a time."
SECTION_MEASURES = "Measured"
IN_SHORT_FOUND = "The right passage is among the first five found for {count} of {total} questions."
IN_SHORT_REFUSED = "Refused: {refusals}."
IN_SHORT_WRONGLY = "{count} of {total} that your notes answer"
IN_SHORT_RIGHTLY = "{count} of {total} that they do not answer"
COLUMN_MEASURE = "Measure"
COLUMN_VALUE = "Value"
COLUMN_INTERVAL = "95 % interval"
COLUMN_QUESTIONS = "Questions"
COLUMN_AGAINST = "Against the run before"
MEASURE_NAMES = {
    "mrr": "MRR",
    "ndcg@10": "nDCG@10",
    "refused": "refused, rightly",
    "wrongly refused": "refused, wrongly",
    "cites": "cites the right passage",
    "seconds": "seconds a question",
}
BETWEEN = "{low} to {high}"
SAME = "the same"
MAY_BE_CHANCE = "may be chance"
WON_AND_LOST = "{better} better, {worse} worse"
RUN_STOPPED_ONE = "Stopped after 1 question: the figures are of that one."
RUN_STOPPED = "Stopped after {count} questions: the figures are of those."
RUN_FAILED_ONE = "1 question could not be searched; the list says why."
RUN_FAILED = "{count} questions could not be searched; the list says why."
RUN_OLD = "The library's files have changed since. Measure again to see where it stands."
RUN_CUT = "its own cut-off {strictness}"
RUNS = "All runs"
RUNS_EARLIER = "All {count} runs"
COLUMN_RUN = "Run"
COLUMN_CONDITIONS = "Made with"
RUN_WITH_MODEL = "Answered by {model}"
RUN_SEARCH_ONLY = "Search only"
RUN_CONDITIONS = "{asked}; {embedder}; {chunks} passages; {settings}."
CHANGED = "Changed since the run before: {changes}."
CHANGED_NOTHING = "Nothing was changed since the run before."
CHANGED_FROM_TO = "{what} {old} → {new}"
CHANGED_MODEL = "model"
CHANGED_NO_MODEL = "none"
CHANGED_EMBEDDER = "embedder"
CHANGED_SETTINGS = "settings"
CHANGED_CUT = "cut-off"
CHANGED_FILES = "passages"
CHANGED_INDEX = "files"
SECTION_CALIBRATE = "When to say “your notes do not say this”"
CALIBRATE_INFO = (
    "Footnote refuses a question when the evidence for an answer is weak. A stricter cut-off gives fewer wrong answers "
    "and more wrong refusals. Choose what suits your notes."
)
CALIBRATE_NONE = "Measure first: then the chart shows what another cut-off would cost."
CALIBRATE_ONE_KIND = "This needs questions of both kinds: some that your notes answer, and some that they do not."
CALIBRATE_FIXED_ONE = "1 question is decided without the cut-off."
CALIBRATE_FIXED = "{count} questions are decided without the cut-off."
CALIBRATE_SEARCH = "The model was not asked: it may refuse more."
CALIBRATE_WITH_MODEL = "What the model refuses by itself is counted."
CALIBRATE_CAPTION = "Each dot is a cut-off; near the lower left corner both mistakes are rare."
CALIBRATE_ALT = "Wrong answers against wrong refusals, for every cut-off"
AXIS_REFUSALS = "wrong refusals, of answerable questions"
AXIS_ANSWERS = "wrong answers, of the others"
LEGEND_CURVE = "cut-offs"
LEGEND_CHOSEN = "chosen here"
LEGEND_KEPT = "in use"
POINT = "Cut-off {strictness}: {answered} of {unanswerable} answered wrongly, {refused} of {answerable} refused wrongly"
COST_CHOSEN = "chosen here"
COST_KEPT = "in use"
COST_OWN = "Footnote's own"
COST_ANSWERS = "{count} of {total} answered wrongly (95 %: {low} to {high})"
COST_REFUSALS = "{count} of {total} refused wrongly (95 %: {low} to {high})"
CUT = "Cut-off"
CUT_INFO = "Left: answers more. Right: refuses more."
CUT_KEEP = "Keep for this library"
CUT_BACK = "Back to Footnote's own"
CUT_KEPT = "Kept: from now on this library's questions are judged by it."
CUT_IS_OWN = "This library's questions are judged by Footnote's own cut-off again."

# Diagnostics: experiments and plots
EXPERIMENTS = "Try another way"
EXPERIMENTS_INFO = (
    "Would your questions be answered better if files were cut, embedded or searched in another way? A sample of the "
    "library is indexed aside and deleted again. The library itself is only read."
)
EXPERIMENT_WAYS = "Compare with how it is now"
EXPERIMENT_SIZE = "Size of the sample, passages"
EXPERIMENT_SIZE_INFO = "A larger one tells more and takes longer."
EXPERIMENT_ALL = "all"
EXPERIMENT_TRY = "Try"
EXPERIMENT_STOP = "Stop"
EXPERIMENT_CHOOSE = "Choose at least one way to compare with."
EXPERIMENT_BUSY = "“{library}” is being tried; one experiment at a time."
EXPERIMENT_SAMPLE = "The sample: {files} with {chunks} of {total} passages, and {questions} that they answer."
ONE_FILE = "1 file"
MANY_FILES = "{count} files"
ONE_QUESTION = "1 question"
MANY_QUESTIONS = "{count} questions"
EXPERIMENT_NO_QUESTIONS = "There is no question here whose answer is known."
EXPERIMENT_NO_QUESTIONS_HINT = "Add some above, each with the file, page or words that answer it."
EXPERIMENT_FEW = "With {questions}, a comparison says next to nothing."
EXPERIMENT_FEW_HINT = "It begins to mean something with {count}."
EXPERIMENT_LEFT_OUT_ONE = "1 question cannot be measured here"
EXPERIMENT_LEFT_OUT = "{count} questions cannot be measured here"
EXPERIMENT_DOING = {"index": "{done} of {total} files indexed", "search": "{done} of {total} questions searched"}
EXPERIMENT_AT = "Way {nth} of {ways}, “{way}”: {doing}"
EXPERIMENT_TIME_LEFT = ", about {time} left to index"
EXPERIMENT_STOPPING = "Stopping, and cleaning up…"
EXPERIMENT_STOPPED = "Stopped. What was indexed aside is deleted."
EXPERIMENT_SAYS = {
    "better": "Better than now, by more than chance would make of it: {ways}.",
    "worse": "Worse than now, by more than chance would make of it: {ways}.",
    "noise": "No difference that these questions could show: {ways}.",
}
EXPERIMENT_SCOPE = (
    "In a sample everything is easier to find than in the whole library: compare the ways, and trust no figure by "
    "itself. To change the library, see its settings in Ingest; the embedder is chosen on the left."
)
EXPERIMENT_UNTOUCHED = "The library is as it was: its contents have the same hash before and after, {hash}."
EXPERIMENT_TOUCHED = "The library changed meanwhile, as by a sync. Try again to compare with how it is now."
PLOTS = "See it: scores step by step, and a map"
PLOTS_NOTHING = "Ask something in Chat, or search above: then there is something to draw."
SECTION_SCORES = "Scores, step by step"
SCORES_CAPTION = (
    "What answers a question stands out from the rest of its line; in a flat line a step could not tell passages "
    "apart. Scores of different steps cannot be compared."
)
CHART_IN_PROMPT = "in the prompt, by its number"
CHART_FIRST = "the first five of the search"
CHART_OTHERS = "others"
CHART_STAGE = "{name}: {score} by rank"
CHART_MOVES = "Their ranks, from step to step"
AXIS_RANK = "rank"
AXIS_TOKENS = "tokens of a passage"
AXIS_PASSAGES = "passages"
SECTION_SIZES = "How long the passages are now"
SIZES_LIMIT = "cut to at most {limit} tokens"
SIZES_CAPTION = "{count} passages; half have up to {middle} tokens, nine of ten {low} to {high}. Dotted: the limit."
BAR = "{count} passages of {low} to {high} tokens"
SECTION_MAP = "A map of the library"
MAP_QUESTION = "the question"
MAP_HITS = "what was found, by rank"
MAP_TOP = "the top folder"
MAP_CAPTION = (
    "{shown} of {total} passages, laid out so that they lie apart as far as a plane allows. It holds {held} of their "
    "differences: neighbours here may be strangers, and what a search goes by are the cosines."
)
WAY_NOW = "as now"
WAY_CUTS = {
    "sections": "by sections, up to {limit} tokens, overlap {overlap}",
    "words": "by length, {limit} tokens, overlap {overlap}",
}
WAY_EMBEDDER = "embedder {name}"
WAY_HYDE = "with HyDE"
WAY_NO_HYDE = "without HyDE"
WAY_RERANK = "with reranking"
WAY_NO_RERANK = "without reranking"
WAYS_PLAIN = {
    "sections": "One passage a section or clause; longer ones are cut between paragraphs, sharing a little at the cut.",
    "words": "Windows of one length, wherever a section begins; neighbours share the overlap.",
    "embedder": "Another model turns text into vectors. The whole library would have to be embedded anew.",
    "hyde": "The chat model makes up a passage that would answer, and it is searched beside the question.",
    "rerank": "A second model reads question and passage together and sorts the best of what was found.",
    "now": "As the library is made and searched at present.",
}
WAY_NOT_TRIED = "not tried"
WAY_NO_REBUILD = "–"
WAY_TOKENS = "of {count} tokens"
WAY_NOISE = "(noise ±{noise})"
WAY_VERDICTS = {"better": "better", "worse": "worse", "noise": "may be chance"}
SECTION_WAYS = "The ways compared"
COLUMN_WAY_TRIED = "Way"
COLUMN_FOUND_FIRST = "Found first"
COLUMN_FOUND_THREE = "in 3"
COLUMN_FOUND_TEN = "in 10"
COLUMN_MRR = "MRR"
COLUMN_AGAINST_NOW = "Against now"
COLUMN_PASSAGES = "Passages"
COLUMN_SEARCH_TIME = "A search"
COLUMN_REBUILD = "Embedding all anew"
SECTION_DEPTHS = "How many passages are enough?"
DEPTHS_CAPTION = "Where a line is flat, more passages cost room and time and answer nothing more."
SECTION_LENGTHS = "What does an answer cost to read?"
LENGTHS_CAPTION = "Long passages hold more and cost more. Here each way may use the same room in the prompt."
AXIS_DEPTH = "passages given to the model"
AXIS_TOKENS_READ = "tokens of passages, best first"
AXIS_ANSWERED = "questions answered"
CHANGES_OF = "Question by question: {way}"
RANK_NOW = "Rank now"
RANK_THEN = "Rank then"
NOT_FOUND_RANK = "not in {depth}"

PLAIN_WORDS = {
    "cosine": "How close the passage's meaning is to the query's, by the embedder: at most 1, higher is closer.",
    "bm25": "How well the passage's words match the query's, rarer words counting more; it has no fixed top.",
    "m3 sparse": "How well important words agree, by weights that the embedder learned; it has no fixed top.",
    "m3 multi-vector": "How close each word of the question comes to one of the passage, on average.",
    "reranker": "How well the passage answers the question, by a model that reads both together.",
    "match": "The question names this section; the figure says how well its document and words fit the rest.",
    "rrf": "Reciprocal rank fusion: the ranks of the searches merged into one order. Only the order means something.",
    "dense": "Search by meaning: passages whose vectors lie nearest to the query's.",
    "lexical": "Search by words: passages that hold the query's words.",
    "fusion": "The searches merged into one order, each with its weight.",
    "sparse": "Search by learned word weights: words that the embedder finds important, spelled alike in both.",
    "clause": "Passages of the section or clause that the question names by its number.",
    "multivector": "The best passages compared with the question token by token, by the embedder itself.",
    "rerank": "A second model has read question and passage together and sorted the best of them.",
    "fold": "Passages that say nearly the same are folded into the best; what only lists what follows comes last.",
    "follow": "Passages that a found one refers to (“see Table C.4”), one step far.",
    "hypothetical": "HyDE: the model made up a passage that would answer, and it was searched beside the question.",
    "weight": "How much this search's ranks count in the fusion; without a vote its hits are only shown.",
    "tokens": "The pieces of text a model counts in; a word is one to three of them.",
    "window": "How many tokens the model can read at once, question, passages and answer together.",
    "embedder": "The model that turns text into vectors, so that similar meanings lie close together.",
    "handed on": "How many passages this step gave to the next one; what ranks lower is cut off here.",
    "not read": "The file or page could not be read, or is not among what is read: no text of it is known.",
    "not indexed": "It can be read, but the index does not hold it as it is now.",
    "filtered": "The question was held to other files, dates or sections.",
    "below the cut": "None of the searches had it among the passages that it hands on.",
    "lost in fusion": "A search found it, but had no vote, or too many others came before it.",
    "folded": "Another passage says nearly the same and stands for both.",
    "below the verdict": "The notes did not seem to speak of the question, so the model was not asked.",
    "over the budget": "Better passages had filled the places, or the window, of the model already.",
    "device": "Where the embedder runs: cpu is the processor, cuda an NVIDIA card, mps an Apple one.",
    "evidence": "How much the notes have to say about the question, judged before anything is generated.",
    "rank": "Place in that search's list, 1 being the best.",
    "condense": "Rewriting a follow-up question so that it can be searched on its own.",
    "embed": "Turning the query into a vector.",
    "search": "The whole search; its parts are below it.",
    "prompt": "Choosing the passages that fit the window, and counting their tokens.",
    "the rest": "Opening the index the first time, looking passages up, and judging the evidence.",
    "loading": "Loading the model into memory, before it read anything.",
    "contrast": "How far the best cosine stands above the background of the other passages found.",
    "coverage": "Share of the question’s informative words that one of the first passages holds.",
    "margin": "How far the best BM25 score stands above the sixth, as a share of it.",
    "agreement": "One by the rank in the search by words of the passage that the search by meaning puts first.",
    "across languages": "1 where the question is in another language than the passages found, else 0.",
    "strength": "How likely the notes speak of it, 0 to 1, by all these figures weighed together.",
    "standing": "The contrast beside how widely the cosines of the other passages spread (their standard deviation).",
    "above the cut-off": "How far the strength lies above Footnote's own cut-off, in log-odds; 0 is just there.",
    "way": "How far the passage came: found, kept in the ranking, put into the prompt, read by the model, cited.",
    "gate found": "Any search saw it.",
    "gate kept": "It is in the final ranking, after merging, sorting and folding.",
    "gate sent": "It is part of what was sent to the model.",
    "gate read": "The model’s own count says that it read the whole prompt.",
    "gate cited": "A sentence of the answer is bound to it.",
    "first token": "Waiting for the model's first word: it reads the prompt.",
    "generation": "Writing the answer.",
    "citations": "Checking the answer's citations against the passages.",
    "citation audit": "Every sentence of the answer compared with the passage that it cites.",
    "overlap": "Share of the sentence's informative words that the passage holds, rarer words counting more; 1 is all.",
    "verbatim": "Share of the sentence that stands in the cited words in runs of three words or more; 1 is all of it.",
    "model": "The language model that writes the answer.",
    "found among": "Share of the questions for which a passage that answers is the first one found, or among so many.",
    "noise band": "How far apart two equally good ways would come to lie by chance alone, with as many questions.",
    "passages cut": "Pieces that the sample is cut into this way, and their mean length.",
    "sharing": "A graphics card has one memory for all programs. What finds no room there runs on the CPU, far slower.",
    "torch": "The library that BGE-M3 and other sentence-transformers models run in.",
    "chat model in memory": "Where the model's weights lie: on the graphics card, or in main memory, which is slower.",
    "embedding speed": "How many passages the embedder turns into vectors in a second: how long a sync takes.",
    "telemetry": "Reports that programs send to their makers. Footnote switches them off in all libraries it uses.",
    "devices": "Where vectors are computed: on a graphics card or on the CPU. Documents and questions may differ.",
    "recall@1": "Of the places that answer the questions, the share found in first place.",
    "recall@3": "Of the places that answer the questions, the share among the first three found.",
    "recall@5": "Of the places that answer the questions, the share among the first five found.",
    "recall@10": "Of the places that answer the questions, the share among the first ten found.",
    "mrr": "Mean reciprocal rank: 1 where the right passage always comes first, 0.5 where it comes second.",
    "ndcg@10": "How near the order of the first ten is to the best possible one, which is 1.",
    "refused": "Of the questions that the notes do not answer, the share that is refused. Higher is better.",
    "wrongly refused": "Of the questions that the notes answer, the share that is refused. Lower is better.",
    "cites": "Of the answers, the share that cites a place you named.",
    "seconds": "From the question to the answer; half of the questions took less.",
    "interval": "Other questions of the same kind would give another figure, 19 times of 20 within these bounds.",
    "tokens per second": "How fast the model writes, once it has begun.",
}
"""What a technical word means, for its tooltip."""

# Diagnostics: why not this?
WHY = "Why not this?"
WHY_INFO = (
    "Name what you expected to be read: a part of a file’s name, a page of it, or words that stand there. You are told "
    "how far it came, what stopped it first, and what would have brought it in. Any passage on this page has a button "
    "that asks the same."
)
WHY_FILE = "File"
WHY_PAGE = "Page"
WHY_PHRASE = "Words that stand there"
WHY_ASK = "Why was it not read?"
WHY_THIS = "Why?"
WHY_NO_QUESTION = "There is no question yet to look into."
WHY_NOTHING = "Nothing in the library fits that."
WHY_NOTHING_HINT = "Try a part of the file’s name, or fewer words."
WHY_READ = "read by the model"
WHY_FOUND = "found"
WHY_GATES = {
    "not read": "read",
    "not indexed": "indexed",
    "filtered": "let through",
    "below the cut": "found",
    "lost in fusion": "kept",
    "folded": "no copy",
    "below the verdict": "evidence",
    "over the budget": "fits",
}
WHY_MARKS = {"passed": ("✓", "passed"), "stopped": ("✕", "stopped here"), "open": ("·", "not reached")}
WHY_WAYS = "What would have brought it in"
WHY_TRIED = "Tried: place {rank} of what is found."
WHY_TRIED_NOTHING = "Tried: it is not found even then."
WHY_ABOUT = "about "
WHY_WORKED_OUT = "Not on record: worked out now."
WHY_RANK = "Rank"
WHY_HANDED_ON = "Handed on"
WHY_NOTE = "Note"
WHY_TEXT = "The passage"
WHY_OTHERS_ONE = "1 more passage that fits"
WHY_OTHERS = "{count} more passages that fit"
WHY_MORE_ONE = "1 more fits; name it more closely."
WHY_MORE = "{count} more fit; name what you mean more closely."
WHY_LOOK = "Look inside"

# Diagnostics: replay bundles
BUNDLE = "Keep this answer, and run it again"
BUNDLE_INFO = (
    "A replay bundle is one file with the question, what was found, the exact prompt, models, settings and answer. It "
    "holds text of your notes. Opened here, its question can be asked again, and you are told what has changed."
)
BUNDLE_NOTHING = "Nothing is shown that could be kept: ask in Chat, or look at the last question above."
BUNDLE_JSON = "Save as a bundle (JSON)"
BUNDLE_HTML = "Save as a page to read (HTML)"
BUNDLE_OPEN = "Open a bundle…"
REPLAY = "Run it again"
REPLAY_STOP = "Stop"
REPLAY_STOPPED = "Stopped, or chat went first. Run it again when you like."
REPLAY_AFTER_CHAT = "Chat is answering. Run it again when that is done."
REPLAY_SEARCHING = "Searching…"
REPLAY_ANSWERING = "Asking the model…"
REPLAY_SAME = "The same prompt, and the same answer, character by character."
REPLAY_OTHER_TEXT = "The same prompt, but another answer."
REPLAY_OTHER_PROMPT = "The model was sent another prompt, and gave another answer."
REPLAY_OTHER_PROMPT_SAME_TEXT = "The model was sent another prompt, and gave the same answer."
REPLAY_UNASKED_SAME = "The model was not asked; what was said is the same."
REPLAY_UNASKED_OTHER = "Once of the two times the model was not asked."
REPLAY_INDEX_SAME = "The index is as it was."
REPLAY_INDEX_OTHER = "The index is not as it was: files were added, changed, removed or cut in another way."
REPLAY_THEN = "Then"
REPLAY_NOW = "Now"
REPLAY_WHAT = "What"
REPLAY_CONDITIONS = "What is set or chosen otherwise"
REPLAY_SOURCES = "Files that passages came from"
REPLAY_FILE = "File"
REPLAY_BECAME = "What became of it"
REPLAY_MOVED = "Passages in another place"
PAGE_ASKED = "Asked {when}. Saved by Footnote {version}."
PAGE_AUDIT = "The answer, sentence by sentence"
PAGE_UNCITED = "no citation"
PAGE_LACKS = "not in what it cites: {what}"
PAGE_PASSAGES = "What the model read"
PAGE_FACTS = "How it was asked"
PAGE_WINDOW = "{used} of {total} tokens by our count; the model read {read}"
PAGE_INDEX = "index (files / chunks, fingerprint)"
PAGE_PROMPT = "The prompt"
PAGE_FILES = "Files (SHA-256)"
PAGE_GONE = "not in the library any more"

# Diagnostics: this machine
MACHINE_WELL = "All is well."
MACHINE_LOOKED_ONE = "1 thing was looked at."
MACHINE_LOOKED = "{count} things were looked at."
MACHINE_BROKEN_ONE = "1 thing is broken."
MACHINE_BROKEN = "{count} things are broken."
MACHINE_LOOK_ONE = "1 thing needs a look."
MACHINE_LOOK = "{count} things need a look."
MACHINE_TODO = "What to do stands below each."
MACHINE_MEASURE = "Measure embedding"
MACHINE_TOPICS = {
    "system": "System",
    "card": "Graphics card",
    "search": "Search",
    "chat": "Chat model",
    "library": "This library",
    "privacy": "Privacy",
}
SHARING = "Sharing the graphics card"
SHARING_WAYS = {
    "none": "Nothing has to be shared.",
    "together": "Both models stay on the card.",
    "turns": "They take turns on the card.",
    "cpu": "The embedder runs on the CPU.",
}
SHARING_NOW = "{model} has left the card just now, since a sync is running. It comes back after it, or when you ask."
SHARING_SPILLED = "{size} of {model} find no room on the card. The CPU works on that part, so answers are slower."
SHARING_ASKING = "While you ask"
SHARING_SYNCING = "While a sync embeds"
SHARING_USED = "{used} of {total}"
SHARING_OTHERS = "other programs"
SHARING_SET = "{setting} decides this."
SHARING_CHOOSE = "How they share it"
SHARING_CHOOSE_INFO = "Holds from the next sync and question on. A sync that is over in seconds unloads nothing."
SHARING_CHOICES = {
    "auto": "Footnote decides",
    "together": "both stay on the card",
    "turns": "take turns",
    "cpu": "the embedder on the CPU",
}
SHARING_IN_A_SYNC = "While it embeds, {model} leaves the graphics card. It comes back after the sync, or when you ask."

# Diagnostics: untrusted text
UNTRUSTED = "Untrusted text"
UNTRUSTED_INFO = (
    "Anybody can write into a paper, a page or a mail what is meant for a language model. Here are all passages of "
    "this library that hold text which is not to be seen in its file, or which reads like an instruction to a model."
)
UNTRUSTED_LOOK = "Look through the library"
UNTRUSTED_STOP = "Stop"
UNTRUSTED_EMPTY = "There is nothing to look through: no file of this library has been indexed."
UNTRUSTED_NONE_ONE = "1 passage was looked at. It holds neither."
UNTRUSTED_NONE = "{count} passages were looked at. None holds either."
UNTRUSTED_LOOKING = "{looked} of {total} passages looked at"
UNTRUSTED_FOUND = "Of {looked} passages {hidden} hold hidden text and {speaking} speak to a model. They are in {files}."
UNTRUSTED_FIRST = "The first {count} are shown."
UNTRUSTED_LIST = "Passages with untrusted text"
UNTRUSTED_HIDDEN = "hidden text"
UNTRUSTED_SPEAKS = "speaks to a model"
UNTRUSTED_MEANS = {
    "hidden": "Some of this was read from the file, though a person who opens it does not see it there.",
    "speaks": "Some of this reads like an instruction to a language model. The model gets it as a quotation.",
}
UNTRUSTED_MORE = "… and {count} more"
UNTRUSTED_HOW = {
    "colour": "It has the colour of what is behind it.",
    "tiny": "It is too small to be seen.",
    "transparent": "It is see-through.",
    "outside": "It lies outside of what is shown.",
    "style": "The page's style hides it.",
    "characters": "It holds characters that print nothing.",
}
UNTRUSTED_AIM = {
    "override": "It tells a model to set its instructions aside.",
    "role": "It gives a model another role.",
    "address": "It speaks to a model.",
    "dictation": "It dictates what a model is to answer.",
    "secrecy": "It asks a model to keep something from you, or to give something away.",
    "sending": "It asks a model to send something.",
    "markup": "It holds signs that stand between the messages of a chat.",
}
UNTRUSTED_KEPT_BACK = "Hidden text that gives orders was not given to the model."
UNTRUSTED_READ_ONE = "1 passage that the model read holds text that speaks to a model."
UNTRUSTED_READ = "{count} passages that the model read hold text that speaks to a model, or hidden text."
UNTRUSTED_UNSEEN_ONE = "1 passage that the model read holds text that is hidden in its file."
UNTRUSTED_UNSEEN = "{count} passages that the model read hold text that is hidden in their files."
UNTRUSTED_HINT = "Look at the marked words in the passage before you believe the answer."

# --------------------------------------------------------------------------------------------------------------- launch

LISTENING = "Footnote is at {address}"
OPEN_WARNING = "Warning: the page listens on {host}, where other machines can reach it; user and password are required."
LOGIN = "Footnote on this machine: please sign in."
