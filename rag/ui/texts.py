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
STOPPING = "Stopping after the model's next word…"
ANSWER_BUSY = "An answer is still being written. Stop it first."
SEARCHING = "Searching the notes…"
READING_ONE = "Reading 1 passage…"
READING = "Reading {count} passages…"
SEARCHED = "searched: {query}"
SEARCHED_TITLE = "The question was rewritten so that it can be searched on its own. {note}"
RETRY = "Ask again"
INSPECT = "Look inside"
INSPECT_TITLE = "Show in Diagnostics what was searched, found and sent to the model"
COPY = "Copy"
COPIED = "Copied"
OUTCOME_STOPPED = "Stopped: this answer is not complete."
OUTCOME_FAILED = "The answer failed."
OUTCOME_SEARCH_ONLY = "No chat model: Footnote only searches. These passages fit your question best."
SOURCES = "Sources"
SOURCES_FOUND = "Passages being read"
SOURCES_NEAREST = "Nearest passages"
SOURCES_NONE = "No passage was found."
CITED = "cited"
NOT_CITED = "not cited"
IN_FILE = "Open the passage"
PAGE_ONE = "p. {first}"
PAGE_RANGE = "p. {first}–{last}"
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

EMPTY_SAMPLE_TITLE = "Start with the sample notes"
EMPTY_SAMPLE = "A dozen short notes come with Footnote, so that you can try it before you add your own."
EMPTY_SAMPLE_ACTION = "Index the sample notes"
EMPTY_LIBRARY_TITLE = "This library is empty"
EMPTY_LIBRARY = "Add a folder, or drop files, in the Ingest tab. Then ask here."
EMPTY_LIBRARY_ACTION = "Add notes"
EMPTY_INDEXING_TITLE = "Indexing…"
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
SYNC_STOP = "Stop"
SYNC_RESUME = "Resume"
ROOTS = "Folders of this library"
DROP_TITLE = "Drop files or a folder here"
DROP_INFO = "They are copied into Footnote's own folder, sub-folders included. Reads .txt, .md and .pdf."
DROP_FILES = "Choose files"
DROP_FOLDER = "Choose a folder"
DROP_PROGRESS = "{done} of {total} copied"
DROP_DONE_ONE = "1 file copied."
DROP_DONE = "{count} files copied."
DROP_NOTHING = "Nothing to copy was found in what was dropped."
DROP_BAD_PATH = "The file name {name} cannot be kept."

PLAN_TITLE = "What indexing would do"
PLAN_NOTHING = "Everything is up to date: nothing to do."
PLAN_EMPTY = "No file that Footnote reads was found in this folder."
PLAN_MORE = "and {count} more"
CHANGE_NEW = "new"
CHANGE_CHANGED = "changed"
CHANGE_MOVED = "moved"
CHANGE_REMOVED = "removed"
CHANGE_UNCHANGED = "unchanged"
CHANGE_RETRY = "tried again"
SKIPPED_ONE = "1 path is not read"
SKIPPED = "{count} paths are not read"

JOB_RUNNING = "Indexing {root}"
JOB_STOPPING = "Stopping after this file…"
JOB_STOPPED = "Stopped. What was read is kept; Resume goes on from here."
JOB_INTERRUPTED = "Indexing was interrupted. What was read is kept; Resume goes on from here."
JOB_FAILED = "Indexing failed."
JOB_DONE = "Done in {seconds}: {changes}."
JOB_DONE_NOTHING = "Done in {seconds}: nothing had changed."
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
COLUMN_DATE = "Indexed"
COLUMN_REASON = "Reason"
COLUMN_ACTIONS = "Actions"
STATE_INDEXED = "read"
STATE_PARTLY = "partly"
STATE_FAILED = "not read"
REREAD = "Read again"
REMOVE = "Remove"
REMOVE_TITLE = "Forget this file. The file itself stays on disk; a dropped copy is deleted."
REMOVED_FILE = "{path} is removed from the library."
REREAD_FILE = "{path}: {state}."

LIBRARIES = "Libraries"
LIBRARY_NAME = "Name of a new library"
LIBRARY_NAME_PLACEHOLDER = "Thesis"
LIBRARY_CREATE = "Create library"
LIBRARY_CREATED = "Library “{name}” is ready. Add a folder to it."
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
NO_PROMPT = "Nothing was sent to a model."
NOT_IN_PROMPT = "not in the prompt"
VERDICT_ENOUGH = "enough"
VERDICT_SOME = "some"
VERDICT_NONE = "none"
COLUMN_RANK = "#"
COLUMN_PASSAGE = "Passage"
COLUMN_PROMPT = "In prompt"
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

PLAIN_WORDS = {
    "cosine": "How close the passage's meaning is to the query's, by the embedder: at most 1, higher is closer.",
    "bm25": "How well the passage's words match the query's, rarer words counting more; it has no fixed top.",
    "rrf": "Reciprocal rank fusion: the ranks of the searches merged into one order. Only the order means something.",
    "dense": "Search by meaning: passages whose vectors lie nearest to the query's.",
    "lexical": "Search by words: passages that hold the query's words.",
    "fusion": "The two searches merged into one order.",
    "tokens": "The pieces of text a model counts in; a word is one to three of them.",
    "window": "How many tokens the model can read at once, question, passages and answer together.",
    "embedder": "The model that turns text into vectors, so that similar meanings lie close together.",
    "device": "Where the embedder runs: cpu is the processor, cuda an NVIDIA card, mps an Apple one.",
    "evidence": "How much the notes have to say about the question, judged before anything is generated.",
    "rank": "Place in that search's list, 1 being the best.",
    "condense": "Rewriting a follow-up question so that it can be searched on its own.",
    "embed": "Turning the query into a vector.",
    "first_token": "Waiting for the model's first word.",
    "generation": "Writing the answer.",
    "generate": "Writing the answer.",
    "answer": "Writing the answer.",
    "citations": "Checking the answer's citations against the passages.",
    "prompt": "Choosing passages and putting the prompt together.",
    "retrieval": "The whole search.",
    "model": "The language model that writes the answer.",
}
"""What a technical word means, for its tooltip."""

# --------------------------------------------------------------------------------------------------------------- launch

LISTENING = "Footnote is at {address}"
OPEN_WARNING = "Warning: the page listens on {host}, where other machines can reach it; user and password are required."
LOGIN = "Footnote on this machine: please sign in."
