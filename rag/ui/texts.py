"""Every sentence of the page that is not data, in one place.

Texts with ``{…}`` are filled with ``str.format``; the values are escaped where the text becomes HTML.
"""

from __future__ import annotations

TITLE = "Footnote"
TAGLINE = "Chat with your notes, and check what it read."

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
MISSING_TITLE = "This number is not in the cited passage: check it at the source."
LEGEND_MODEL = "cited by the model"
LEGEND_FOOTNOTE = "bound by Footnote from the words"
LEGEND_UNKNOWN = "no such passage"
LEGEND_UNSUPPORTED = "no passage supports it"
LEGEND_MISSING = "number not in the cited passage"

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
SETTINGS_SAVED_TIME = "That takes {time}."
SETTINGS_WHOLE = "Passage length and overlap are whole numbers of tokens, or empty."

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
SEARCH_PLACEHOLDER = "Words or a question"
SEARCH = "Search"
LAST_QUESTION = "Last question"
PART_ANSWER = "One answer"
PART_MEASURE = "My notes, measured"
PART_MACHINE = "This machine"
DIAGNOSTICS_EMPTY = "Ask something in Chat, or search here: then this page shows what was found, and why."
SECTION_QUERY = "What was searched"
SECTION_EVIDENCE = "Evidence"
SECTION_CANDIDATES = "Candidates"
SECTION_PROMPT = "The prompt, as sent"
SECTION_WINDOW = "The window"
SECTION_TIMES = "Where the time went"
SECTION_HEALTH = "Health checks"
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
FATE_FOLDED = "nearly the same as number {rank}: folded into it"
FATE_COPIES_ONE = "1 copy folded into it"
FATE_COPIES = "{count} copies folded into it"
FATE_CUT = "cut: not among the best"
NO_PROMPT = "Nothing was sent to a model."
NOT_IN_PROMPT = "not in the prompt"
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
WINDOW_COUNT = "Prompt: {used} tokens by our {kind}; the model itself read {read}."
WINDOW_COUNT_UNREAD = "Prompt: {used} tokens by our {kind}; the model has not reported its own count."
WINDOW_EXACT = "count with its tokenizer"
WINDOW_ESTIMATE = "cautious estimate"
WINDOW_TOTAL = "of {total} tokens"
SECONDS = "{seconds} s"
STATE_OK = "ok"
STATE_WARNING = "look"
STATE_ERROR = "broken"
STATE_OFF = "off"

# Citation audit
SECTION_AUDIT = "Sentence by sentence"

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
    "device": "Where the embedder runs: cpu is the processor, cuda an NVIDIA card, mps an Apple one.",
    "evidence": "How much the notes have to say about the question, judged before anything is generated.",
    "rank": "Place in that search's list, 1 being the best.",
    "condense": "Rewriting a follow-up question so that it can be searched on its own.",
    "embed": "Turning the query into a vector.",
    "search": "The whole search.",
    "first token": "Waiting for the model's first word.",
    "generation": "Writing the answer.",
    "citations": "Checking the answer's citations against the passages.",
    "model": "The language model that writes the answer.",
}
"""What a technical word means, for its tooltip."""

# --------------------------------------------------------------------------------------------------------------- launch

LISTENING = "Footnote is at {address}"
OPEN_WARNING = "Warning: the page listens on {host}, where other machines can reach it; user and password are required."
LOGIN = "Footnote on this machine: please sign in."
