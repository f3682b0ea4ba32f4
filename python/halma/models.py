# Generated from the OpenAPI description of the server by `generate.py`; do not edit.

from __future__ import annotations

from enum import Enum
from typing import Annotated, Any, Dict, Literal, Union

from pydantic import AwareDatetime, BaseModel, ConfigDict, Field, RootModel
from typing_extensions import TypeAliasType


class AcceptedFile(BaseModel):
    model_config = ConfigDict(
        extra='allow',
        populate_by_name=True,
    )
    bytes: Annotated[int, Field(ge=0)]
    name: str
    upload: str
    """
    The name to use in `uploads` of a build.
    """


class AnswerKind(Enum):
    """
    The shape the answer should have; prompts choose their instruction by it.
    """

    short = 'short'
    yes_no = 'yes_no'
    option = 'option'
    number = 'number'
    long = 'long'
    verdict = 'verdict'


class AnswerStep(BaseModel):
    """
    One step to the answer: what was asked and the citation that settled it.
    """

    model_config = ConfigDict(
        extra='allow',
        populate_by_name=True,
    )
    citation: Annotated[int, Field(ge=0)]
    """
    The number of the citation, from 1.
    """
    query: str
    """
    The query that found the cited passage; empty where the trace does not tell.
    """


class AnswerStyle(Enum):
    """
    How an answer is written.
    """

    short = 'short'
    full = 'full'


class BasePart(Enum):
    """
    A part of a base that is rebuilt on request only.
    """

    atoms = 'atoms'
    chunks = 'chunks'
    entities = 'entities'
    tags = 'tags'
    summaries = 'summaries'
    communities = 'communities'
    tables = 'tables'
    vectors = 'vectors'
    embedder = 'embedder'


class Budget(BaseModel):
    """
    Limits of one question or one build; what is not set is not limited.
    """

    model_config = ConfigDict(
        extra='allow',
        populate_by_name=True,
    )
    calls: Annotated[int | None, Field(ge=0)] = None
    """
    Calls to models. Replies from the cache are not counted.
    """
    repairs: Annotated[int | None, Field(ge=0)] = None
    """
    How often in all a model is asked again because its reply does not fit.
    """
    seconds: float | None = None
    tokens: Annotated[int | None, Field(ge=0)] = None
    """
    Prompt and completion tokens together.
    """
    usd: float | None = None
    """
    US dollars, by the prices in the configuration.
    """


class BuildPhase(Enum):
    """
    The state of a build for clients, to whom a queued build is running.
    """

    running = 'running'
    paused = 'paused'
    cancelled = 'cancelled'
    done = 'done'
    failed = 'failed'


class BuildRequest(BaseModel):
    """
    What is to be built.
    """

    model_config = ConfigDict(
        extra='allow',
        populate_by_name=True,
    )
    rebuild: list[BasePart] | None = None
    """
    Parts of the base that are made again as the configuration says: `chunks` of the uploads of
    this build, any other part of the whole base. Without them a base stays as it was made.
    """
    uploads: list[str] | None = None
    """
    `upload` of accepted files; everything that was uploaded by default. An empty list is refused:
    a client that had no file accepted does not mean everything.
    """


class CandidateKind(Enum):
    """
    What a candidate for knowledge is.
    """

    answer = 'answer'
    sub_answer = 'sub_answer'
    rows = 'rows'
    series = 'series'
    synthesis = 'synthesis'


class CandidateState(Enum):
    """
    What became of a candidate.
    """

    pending = 'pending'
    accepted = 'accepted'
    rejected = 'rejected'
    undone = 'undone'


class ChatMessage(BaseModel):
    model_config = ConfigDict(
        extra='allow',
        populate_by_name=True,
    )
    content: Any | None = None
    """
    A text, or a list of parts, of which only texts are read.
    """
    role: str


class Check(BaseModel):
    """
    What a verifier found.
    """

    model_config = ConfigDict(
        extra='allow',
        populate_by_name=True,
    )
    reason: str
    score: float
    """
    How certain the passages make it, from 0 to 1.
    """


class Citation1(RootModel[int]):
    root: Annotated[int, Field(ge=0)]


class Claim(BaseModel):
    """
    A sentence of a full answer. `start..end` are characters (Unicode scalar values) of its text.
    """

    model_config = ConfigDict(
        extra='allow',
        populate_by_name=True,
    )
    citations: list[Citation1]
    """
    The numbers of its citations, from 1.
    """
    end: Annotated[int, Field(ge=0)]
    start: Annotated[int, Field(ge=0)]
    supported: bool
    """
    Whether a cited passage supports it.
    """


class ColumnLine(BaseModel):
    """
    A column as SQL knows it.
    """

    model_config = ConfigDict(
        extra='allow',
        populate_by_name=True,
    )
    kind: str
    """
    `integer`, `number`, `date` (as `2023-01-31`), `boolean` (1 or 0) or `text`.
    """
    name: str
    unit: str | None = None
    """
    What its numbers count: `%`, `USD`, `mg`.
    """
    written: str
    """
    As the document has it.
    """


class ConfigValue(BaseModel):
    model_config = ConfigDict(
        extra='allow',
        populate_by_name=True,
    )
    key: str
    """
    Dotted, as in `strategy.kar3.n`.
    """
    origin: str
    """
    `default`, a file, or a flag.
    """
    value: Any
    """
    `null` when nothing is set and the program decides.
    """


class ConfigValues(BaseModel):
    model_config = ConfigDict(
        extra='allow',
        populate_by_name=True,
    )
    values: list[ConfigValue]


class Conversation(BaseModel):
    """
    Questions that were asked one after the other.
    """

    model_config = ConfigDict(
        extra='allow',
        populate_by_name=True,
    )
    at: AwareDatetime
    """
    When the last question was asked.
    """
    id: str
    questions: Annotated[int, Field(ge=0)]
    shared: bool
    """
    Whether everybody of the workspace may read it.
    """
    title: str
    """
    The first question.
    """


class Candidate(RootModel[int]):
    root: Annotated[int, Field(ge=0)]


class Decide(BaseModel):
    """
    Which candidates a decision is about.
    """

    model_config = ConfigDict(
        extra='allow',
        populate_by_name=True,
    )
    candidates: list[Candidate] | None = None
    """
    Numbers of candidates, from 1; all by default. An empty list is refused.
    """
    despite: bool | None = None
    """
    Accept although other feedback says otherwise.
    """


class DeferredCandidate(BaseModel):
    """
    A candidate that a verifier did not accept.
    """

    model_config = ConfigDict(
        extra='allow',
        populate_by_name=True,
    )
    candidate: Annotated[int, Field(ge=0)]
    reason: str


RemovedAdditionalProperty = TypeAliasType(
    "RemovedAdditionalProperty", Annotated[int, Field(ge=0)]
)


class DeletedDocument(BaseModel):
    model_config = ConfigDict(
        extra='allow',
        populate_by_name=True,
    )
    removed: dict[Literal['document', 'section', 'chunk', 'table', 'figure', 'row', 'atom', 'summary', 'tag', 'entity', 'fact', 'community'], RemovedAdditionalProperty]
    """
    Number of removed nodes of each layer.
    """


CountsAdditionalProperty = TypeAliasType(
    "CountsAdditionalProperty", Annotated[int, Field(ge=0)]
)


class DocumentState(Enum):
    indexed = 'indexed'
    building = 'building'
    queued = 'queued'
    failed = 'failed'
    refused = 'refused'


class Edge(Enum):
    """
    One kind of directed edge.
    """

    contains = 'contains'
    next = 'next'
    refers_to = 'refers_to'
    links_to = 'links_to'
    derived_from = 'derived_from'
    mentions = 'mentions'
    relates = 'relates'
    tagged = 'tagged'
    member_of = 'member_of'
    maps_to = 'maps_to'


class Effort(Enum):
    """
    A strategy by what it costs.
    """

    quick = 'quick'
    normal = 'normal'
    deep = 'deep'
    exhaustive = 'exhaustive'


class EffortEstimate(BaseModel):
    """
    What a question will take at an effort.
    """

    model_config = ConfigDict(
        extra='allow',
        populate_by_name=True,
    )
    calls: Annotated[int, Field(ge=0)]
    effort: Effort
    seconds: float
    usd: float


class EmbeddingRequest(BaseModel):
    model_config = ConfigDict(
        extra='allow',
        populate_by_name=True,
    )
    dimensions: Annotated[int | None, Field(ge=0)] = None
    """
    The length of the embedder's vectors, if it is given: they are not shortened.
    """
    encoding_format: str | None = None
    """
    `float` (default) or `base64`.
    """
    input: Any
    """
    A text or a list of texts.
    """
    model: str | None = None
    """
    Ignored; the configured embedder is always used.
    """


class EmbeddingResponse(BaseModel):
    model_config = ConfigDict(
        extra='allow',
        populate_by_name=True,
    )
    data: list[Any]
    """
    {object: "embedding", index, embedding}
    """
    model: str
    object: str
    """
    `list`.
    """
    usage: Any


class FieldValue(RootModel[Union[bool, float, str, list["FieldValue"]]]):
    root: Union[bool, float, str, list["FieldValue"]]
    """
    The value of a field. A text of the form `2023-01-31` (or `2023-01-31T10:00`) is a date.
    """


class Flip(BaseModel):
    """
    A question that one of two runs answered rightly and the other did not.
    """

    model_config = ConfigDict(
        extra='allow',
        populate_by_name=True,
    )
    a: str
    b: str
    kind: str | None = None
    question: str


class FullAnswer(BaseModel):
    """
    An answer in sentences.
    """

    model_config = ConfigDict(
        extra='allow',
        populate_by_name=True,
    )
    claims: list[Claim]
    text: str
    """
    Sentences with the numbers of their citations: `… in 1931 [2].`
    """


class Health(BaseModel):
    model_config = ConfigDict(
        extra='allow',
        populate_by_name=True,
    )
    status: str
    """
    `ok`.
    """
    version: str


class IdeaGroup(BaseModel):
    model_config = ConfigDict(
        extra='allow',
        populate_by_name=True,
    )
    ideas: list[list[str]]
    """
    For each different idea the ids of the proposals that say it.
    """
    title: str


class IdeaPerspective(BaseModel):
    model_config = ConfigDict(
        extra='allow',
        populate_by_name=True,
    )
    concern: str
    """
    What matters to it; empty where only its name is known.
    """
    name: str


class IdeaReview(BaseModel):
    """
    Scores from 1 to 5, and the strongest objection, which may be empty.
    """

    model_config = ConfigDict(
        extra='allow',
        populate_by_name=True,
    )
    evidence: float
    feasibility: float
    idea: str
    """
    The id of the idea.
    """
    novelty: float
    objection: str


class Step(Enum):
    board = 'board'


class Step1(Enum):
    perspectives = 'perspectives'


class IdeaStep2(BaseModel):
    """
    The perspectives that the agents have; agents count from 1 in this order.
    """

    model_config = ConfigDict(
        extra='allow',
        populate_by_name=True,
    )
    agents: list[IdeaPerspective]
    step: Step1


class Step2(Enum):
    proposed = 'proposed'


class Step3(Enum):
    reviewed = 'reviewed'


class IdeaStep4(BaseModel):
    """
    What an agent says of the ideas of others; rounds count from 1.
    """

    model_config = ConfigDict(
        extra='allow',
        populate_by_name=True,
    )
    agent: Annotated[int, Field(ge=0)]
    reviews: list[IdeaReview]
    round: Annotated[int, Field(ge=0)]
    step: Step3


class Step4(Enum):
    synthesised = 'synthesised'


class IdeaStep5(BaseModel):
    """
    The different ideas in groups, the most promising first.
    """

    model_config = ConfigDict(
        extra='allow',
        populate_by_name=True,
    )
    groups: list[IdeaGroup]
    step: Step4


class Item1(BaseModel):
    """
    Questions that were asked one after the other.
    """

    model_config = ConfigDict(
        extra='allow',
        populate_by_name=True,
    )
    at: AwareDatetime
    """
    When the last question was asked.
    """
    id: str
    questions: Annotated[int, Field(ge=0)]
    shared: bool
    """
    Whether everybody of the workspace may read it.
    """
    title: str
    """
    The first question.
    """


class ItemsConversation(BaseModel):
    """
    A page of a list.
    """

    model_config = ConfigDict(
        extra='allow',
        populate_by_name=True,
    )
    items: list[Item1]
    next: str | None = None
    """
    What to send as `after` for the next page; absent on the last one.
    """


class Item9(BaseModel):
    model_config = ConfigDict(
        extra='allow',
        populate_by_name=True,
    )
    changed: bool
    """
    Whether a file replaces the shipped text.
    """
    hash: str
    """
    Hash of the text in use, as recorded in traces.
    """
    name: str
    """
    As in `kar3/select`.
    """
    role: str
    task: str
    variables: list[str]


class ItemsPromptLine(BaseModel):
    """
    A page of a list.
    """

    model_config = ConfigDict(
        extra='allow',
        populate_by_name=True,
    )
    items: list[Item9]
    next: str | None = None
    """
    What to send as `after` for the next page; absent on the last one.
    """


class Item10(BaseModel):
    """
    A question that is offered.
    """

    model_config = ConfigDict(
        extra='allow',
        populate_by_name=True,
    )
    question: str
    strategy: str | None = None
    """
    The strategy that answers it; the default one if there is none.
    """


class ItemsSuggestion(BaseModel):
    """
    A page of a list.
    """

    model_config = ConfigDict(
        extra='allow',
        populate_by_name=True,
    )
    items: list[Item10]
    next: str | None = None
    """
    What to send as `after` for the next page; absent on the last one.
    """


class Item13(BaseModel):
    model_config = ConfigDict(
        extra='allow',
        populate_by_name=True,
    )
    created: AwareDatetime | None = None
    documents: Annotated[int, Field(ge=0)]
    name: str


class ItemsWorkspaceLine(BaseModel):
    """
    A page of a list.
    """

    model_config = ConfigDict(
        extra='allow',
        populate_by_name=True,
    )
    items: list[Item13]
    next: str | None = None
    """
    What to send as `after` for the next page; absent on the last one.
    """


class KeptPart(BaseModel):
    """
    A part that stays as it was made although the configuration says otherwise.
    """

    model_config = ConfigDict(
        extra='allow',
        populate_by_name=True,
    )
    configured: str
    made_with: str
    """
    What the base was made with, and what the configuration says.
    """
    part: BasePart


class Layer(Enum):
    """
    One kind of node (PIKE-RAG, Figure 3): sources, corpus, distilled knowledge.
    """

    document = 'document'
    section = 'section'
    chunk = 'chunk'
    table = 'table'
    figure = 'figure'
    row = 'row'
    atom = 'atom'
    summary = 'summary'
    tag = 'tag'
    entity = 'entity'
    fact = 'fact'
    community = 'community'


class Limit(Enum):
    """
    The limit that was reached.
    """

    calls = 'calls'
    tokens = 'tokens'
    usd = 'usd'
    seconds = 'seconds'


class Message(BaseModel):
    model_config = ConfigDict(
        extra='allow',
        populate_by_name=True,
    )
    role: str
    """
    `system`, `user` or `assistant`.
    """
    text: str


class MethodError(BaseModel):
    model_config = ConfigDict(
        extra='allow',
        populate_by_name=True,
    )
    error: float
    method: str


class Mode(Enum):
    """
    How a search compares the query with the nodes.
    """

    bm25 = 'bm25'
    dense = 'dense'
    hybrid = 'hybrid'
    graph = 'graph'


class Model(BaseModel):
    model_config = ConfigDict(
        extra='allow',
        populate_by_name=True,
    )
    created: Annotated[int, Field(ge=0)]
    id: str
    """
    `halma-<strategy>`, or the embedder's name.
    """
    object: str
    """
    `model`.
    """
    owned_by: str


class ModelAddress(BaseModel):
    """
    A model of a server.
    """

    model_config = ConfigDict(
        extra='allow',
        populate_by_name=True,
    )
    key_env: str | None = None
    """
    The environment variable of Halma's server that holds the key. It begins with `HALMA_` or is
    named in the configuration: other variables are not sent to an address that a client gives.
    """
    model: str
    """
    The name of the model on the server.
    """
    url: str
    """
    The base of the server's API, such as `http://127.0.0.1:11434/v1`.
    """


class ModelConnection(BaseModel):
    model_config = ConfigDict(
        extra='allow',
        populate_by_name=True,
    )
    address: ModelAddress
    name: str
    """
    The name of the model in the configuration.
    """
    reader_only: bool | None = None
    """
    Gives the model the role of the reader alone, as fits one that is slow. Nothing where roles
    are assigned already.
    """


class ModelList(BaseModel):
    model_config = ConfigDict(
        extra='allow',
        populate_by_name=True,
    )
    data: list[Model]
    object: str
    """
    `list`.
    """


class ModelTest(BaseModel):
    model_config = ConfigDict(
        extra='allow',
        populate_by_name=True,
    )
    message: str
    ms: float
    ok: bool


class NewEvaluation(BaseModel):
    """
    Questions with their answers and the strategies that are compared.
    """

    model_config = ConfigDict(
        extra='allow',
        populate_by_name=True,
    )
    name: str
    """
    Letters, digits, `-` and `_`.
    """
    questions: str
    """
    One JSON object per line: `{"question": "…", "answers": ["…"]}`.
    """
    strategies: list[str]


class NewWorkspace(BaseModel):
    model_config = ConfigDict(
        extra='allow',
        populate_by_name=True,
    )
    name: str
    """
    At most 64 characters: a-z, 0-9, - and _.
    """


class PageRange(BaseModel):
    model_config = ConfigDict(
        extra='allow',
        populate_by_name=True,
    )
    end: Annotated[int, Field(ge=0)]
    page: Annotated[int, Field(ge=0)]
    start: Annotated[int, Field(ge=0)]


class PredictionInterval(BaseModel):
    """
    Where the value lies with a probability.
    """

    model_config = ConfigDict(
        extra='allow',
        populate_by_name=True,
    )
    high: float
    level: float
    """
    The probability, a share of 1.
    """
    low: float


class Price(BaseModel):
    """
    US dollars per million tokens.
    """

    model_config = ConfigDict(
        extra='allow',
        populate_by_name=True,
    )
    cached: float | None = None
    """
    Of prompt tokens that the server has in its cache; `prompt` where it is not given.
    """
    completion: float
    prompt: float


class PromptLine(BaseModel):
    model_config = ConfigDict(
        extra='allow',
        populate_by_name=True,
    )
    changed: bool
    """
    Whether a file replaces the shipped text.
    """
    hash: str
    """
    Hash of the text in use, as recorded in traces.
    """
    name: str
    """
    As in `kar3/select`.
    """
    role: str
    task: str
    variables: list[str]


class PromptText(BaseModel):
    model_config = ConfigDict(
        extra='allow',
        populate_by_name=True,
    )
    text: str


class RestsOnItem(RootModel[int]):
    root: Annotated[int, Field(ge=0)]


class ProposedIdea(BaseModel):
    model_config = ConfigDict(
        extra='allow',
        populate_by_name=True,
    )
    id: str
    """
    The number of the agent and of its proposal: `2.1`.
    """
    idea: str
    mechanism: str
    rests_on: list[RestsOnItem]
    """
    Numbers of the evidence as its agent counts it; empty: it rests on none.
    """
    risks: str
    unknowns: str


class Readiness(BaseModel):
    model_config = ConfigDict(
        extra='allow',
        populate_by_name=True,
    )
    database: bool | None = None
    """
    Whether the database of a base that is shared is reached. While it is not, questions are
    answered from what this server has, and nothing is stored.
    """
    disk: bool
    """
    Whether the disk has space left.
    """
    embedder: str | None = None
    """
    The embedder that is open; without one, only keywords are searched.
    """
    queue: bool
    """
    Whether another question would be accepted.
    """
    ready: bool
    """
    Whether questions can be answered and files be stored.
    """
    store: bool
    """
    Whether the store of the default workspace can be read.
    """


class RebuildCost(BaseModel):
    """
    What rebuilding one part would cost, about.
    """

    model_config = ConfigDict(
        extra='allow',
        populate_by_name=True,
    )
    calls: Annotated[int, Field(ge=0)]
    completion_tokens: Annotated[int, Field(ge=0)]
    prompt_tokens: Annotated[int, Field(ge=0)]
    texts: Annotated[int, Field(ge=0)]
    """
    Texts to embed.
    """
    usd: float
    """
    US dollars, by the prices in the configuration.
    """


class RefusedFile(BaseModel):
    """
    A file that was not accepted.
    """

    model_config = ConfigDict(
        extra='allow',
        populate_by_name=True,
    )
    hint: str
    """
    What to do about it.
    """
    line: Annotated[int | None, Field(ge=0)] = None
    """
    Counted from 1, for files with one record per line.
    """
    name: str
    reason: str
    replaceable: bool | None = None
    """
    It would be accepted in place of the file that has its name.
    """


class ReplyStatus1(Enum):
    """
    What became of a reply.
    """

    valid = 'valid'


class ReplyStatus2(BaseModel):
    """
    It did not parse, for this reason; it was asked for again, or given up on.
    """

    model_config = ConfigDict(
        extra='allow',
        populate_by_name=True,
    )
    malformed: str
    """
    It did not parse, for this reason; it was asked for again, or given up on.
    """


class ReplyStatus(RootModel[ReplyStatus1 | ReplyStatus2]):
    root: ReplyStatus1 | ReplyStatus2
    """
    What became of a reply.
    """


class ResultKind(Enum):
    """
    What kind of result a question has.
    """

    answer = 'answer'
    passages = 'passages'
    count = 'count'
    forecast = 'forecast'
    none = 'none'


class RoleAssignment(BaseModel):
    model_config = ConfigDict(
        extra='allow',
        populate_by_name=True,
    )
    roles: dict[str, str]
    """
    Role → name of a model.
    """


class RunLine(BaseModel):
    model_config = ConfigDict(
        extra='allow',
        populate_by_name=True,
    )
    label: str
    strategy: str
    values: Any
    """
    By column, as `report.json` has them.
    """


class RunState(Enum):
    running = 'running'
    done = 'done'
    failed = 'failed'
    cancelled = 'cancelled'


class Scope(Enum):
    """
    What a key permits.
    """

    ask = 'ask'
    write = 'write'
    admin = 'admin'
    metrics = 'metrics'


class ScorePart(BaseModel):
    """
    What one layer or way of searching added to a score.
    """

    model_config = ConfigDict(
        extra='allow',
        populate_by_name=True,
    )
    name: str
    """
    `dense`, `bm25`, `entities`, `titles`, `summaries`, …; an edge's or a layer's own name.
    """
    score: float
    through: str | None = None
    """
    What gave it: the summary, the tags, the entities. One that the question does not name is
    followed by how it was reached: `[alias]`, `[similar name]`, `[sentence]` or `[fact]`.
    """


class SectionLine(BaseModel):
    model_config = ConfigDict(
        extra='allow',
        populate_by_name=True,
    )
    end: Annotated[int, Field(ge=0)]
    id: str
    """
    The name of a node, derived from its content, so that the same input gives the same base.
    """
    name: str | None = None
    page: Annotated[int | None, Field(ge=0)] = None
    start: Annotated[int, Field(ge=0)]
    """
    Characters of the document's text.
    """


class SeriesPoint(BaseModel):
    model_config = ConfigDict(
        extra='allow',
        populate_by_name=True,
    )
    filled: bool
    """
    There was no row in it.
    """
    finished: bool
    """
    The period is over; one that is not was not used.
    """
    fitted: float | None = None
    """
    What the method gives for it.
    """
    period: str
    """
    `2024`, `2024-Q2`, `2024-06` or `2024-06-15`.
    """
    rows: list[str]
    """
    The nodes that it was computed from, as many as are known.
    """
    value: float


class SeriesPrediction(BaseModel):
    model_config = ConfigDict(
        extra='allow',
        populate_by_name=True,
    )
    intervals: list[PredictionInterval]
    period: str
    value: float


class ServedModel(BaseModel):
    """
    A chat model of a server.
    """

    model_config = ConfigDict(
        extra='allow',
        populate_by_name=True,
    )
    context: Annotated[int | None, Field(ge=0)] = None
    """
    Tokens of prompt and reply together, where the server says it.
    """
    name: str


class Sharing(BaseModel):
    """
    Who may read a conversation.
    """

    model_config = ConfigDict(
        extra='allow',
        populate_by_name=True,
    )
    shared: bool
    """
    Whether everybody of the workspace may read it, as far as they see the documents that it quotes.
    """


class Span(BaseModel):
    """
    A range of characters (Unicode scalar values, not bytes) of a document's text.
    """

    model_config = ConfigDict(
        extra='allow',
        populate_by_name=True,
    )
    end: Annotated[int, Field(ge=0)]
    start: Annotated[int, Field(ge=0)]


class SqlRequest(BaseModel):
    model_config = ConfigDict(
        extra='allow',
        populate_by_name=True,
    )
    sql: str
    """
    One `SELECT` over the tables.
    """


class SqlRow(BaseModel):
    """
    One row of a result with the nodes it comes from.
    """

    model_config = ConfigDict(
        extra='allow',
        populate_by_name=True,
    )
    sources: list[str]
    """
    Rows or tables of the base, as many as are known.
    """
    values: list[Any]


class StageEstimate(BaseModel):
    """
    What one stage would cost.
    """

    model_config = ConfigDict(
        extra='allow',
        populate_by_name=True,
    )
    calls: Annotated[int, Field(ge=0)]
    completion_tokens: Annotated[int, Field(ge=0)]
    measured: bool
    """
    Whether the figures rest on what this model did for this base before. If not, they are a
    rule of thumb, the time above all.
    """
    model: str
    prompt_tokens: Annotated[int, Field(ge=0)]
    seconds: float
    task: str
    """
    What is asked for, as in the prompt's file; `embed` for vectors.
    """
    units: Annotated[int, Field(ge=0)]
    """
    Figures, documents, chunks, pairs of entities, windows of text, communities, or texts to
    embed.
    """
    usd: float


class StrategyLine(BaseModel):
    model_config = ConfigDict(
        extra='allow',
        populate_by_name=True,
    )
    calls: str
    """
    Calls to a model for one question with the default settings, as the algorithm has them.
    """
    default: bool
    """
    Whether it is used where a request names none.
    """
    name: str
    needs: list[str]
    """
    What it requires.
    """
    paper: str
    """
    Authors, title, venue.
    """
    settings: Any
    """
    Its settings with their values.
    """
    summary: str
    unmet: str | None = None
    """
    Why it cannot be used with the server's configuration.
    """


class StreamEvent(BaseModel):
    """
    One event of a stream, as the API reference describes it. Comments that keep a stream open are
    not events.
    """

    model_config = ConfigDict(
        extra='allow',
        populate_by_name=True,
    )
    data: str
    """
    JSON, of the kind that `event` says.
    """
    event: str
    """
    What the event is.
    """


class StreamOptions(BaseModel):
    model_config = ConfigDict(
        extra='allow',
        populate_by_name=True,
    )
    include_usage: bool | None = None


class Suggestion(BaseModel):
    """
    A question that is offered.
    """

    model_config = ConfigDict(
        extra='allow',
        populate_by_name=True,
    )
    question: str
    strategy: str | None = None
    """
    The strategy that answers it; the default one if there is none.
    """


class TableLine(BaseModel):
    """
    A table as SQL knows it.
    """

    model_config = ConfigDict(
        extra='allow',
        populate_by_name=True,
    )
    caption: str | None = None
    columns: list[ColumnLine]
    document: str | None = None
    """
    `None` for what was made from facts or unites tables.
    """
    id: str
    """
    For what unites several tables: that of the first.
    """
    name: str
    page: Annotated[int | None, Field(ge=0)] = None
    refused: str | None = None
    """
    Why it cannot be read in SQL.
    """
    rows: Annotated[int, Field(ge=0)]
    unites: list[str] | None = None
    """
    Names of the tables whose rows this one unites.
    """


class TableRows(TableLine):
    model_config = ConfigDict(
        extra='allow',
        populate_by_name=True,
    )
    data: list[list[Any]]
    """
    The rows of this page, cell by cell; `rows` is the number of all rows.
    """


class TagSample(BaseModel):
    """
    A question with what is known of its answer.
    """

    model_config = ConfigDict(
        extra='allow',
        populate_by_name=True,
    )
    answer: str | None = ''
    answers: list[str] | None = []
    """
    Other wordings of the answer.
    """
    documents: list[str] | None = []
    """
    Names of documents that answer it; `*` matches any characters.
    """
    question: str | None = ''


class TimelineEvent(BaseModel):
    """
    Something that is dated.
    """

    model_config = ConfigDict(
        extra='allow',
        populate_by_name=True,
    )
    date: str
    """
    As `2017-09-14`, `2017-09` or `2017`.
    """
    document: str
    """
    The document that says so.
    """
    node: str
    """
    The fact, row or chunk.
    """
    text: str
    """
    What says so.
    """


class TraceEvent(BaseModel):
    model_config = ConfigDict(
        extra='allow',
        populate_by_name=True,
    )


class TrialOutcome(Enum):
    right = 'right'
    wrong = 'wrong'
    unreadable = 'unreadable'


class Turn(BaseModel):
    """
    A message of a conversation.
    """

    model_config = ConfigDict(
        extra='allow',
        populate_by_name=True,
    )
    role: str
    """
    `user` or `assistant`.
    """
    text: str


class UploadForm(BaseModel):
    """
    A form with a field `file` for each file; a field `path` names the folder of the files after it, a
    field `metadata` says the fields that they get.
    """

    model_config = ConfigDict(
        extra='allow',
        populate_by_name=True,
    )
    file: list[bytes]
    metadata: str | None = None
    """
    The fields of the files that follow, as a JSON object. Without it a file that replaces another
    keeps its fields.
    """
    path: str | None = None
    """
    The folder of the files that follow.
    """


class UploadResult(BaseModel):
    model_config = ConfigDict(
        extra='allow',
        populate_by_name=True,
    )
    accepted: list[AcceptedFile]
    refused: list[RefusedFile]


class Usage(BaseModel):
    """
    Tokens of one call, as the server counts them (estimated at four characters a token when it
    does not).
    """

    model_config = ConfigDict(
        extra='allow',
        populate_by_name=True,
    )
    cached_tokens: Annotated[int | None, Field(ge=0)] = None
    """
    Of the prompt tokens, those that the server had read for an earlier request.
    """
    completion_tokens: Annotated[int, Field(ge=0)]
    prompt_tokens: Annotated[int, Field(ge=0)]
    reasoning_tokens: Annotated[int | None, Field(ge=0)] = None
    """
    Of the completion tokens, those of thoughts, which are not shown.
    """


class UsageCounts(BaseModel):
    """
    What questions and builds have used.
    """

    model_config = ConfigDict(
        extra='allow',
        populate_by_name=True,
    )
    cached: Annotated[int, Field(ge=0)]
    """
    Calls that the cache answered.
    """
    calls: Annotated[int, Field(ge=0)]
    """
    Calls that reached a model.
    """
    completion_tokens: Annotated[int, Field(ge=0)]
    prompt_tokens: Annotated[int, Field(ge=0)]
    questions: Annotated[int, Field(ge=0)]
    usd: float
    """
    US dollars.
    """


class UsageLine(UsageCounts):
    """
    The usage of one group.
    """

    model_config = ConfigDict(
        extra='allow',
        populate_by_name=True,
    )
    group: str
    """
    A day, a key's id, or a strategy.
    """


class UsageTotal(BaseModel):
    """
    Usage and cost of a run.
    """

    model_config = ConfigDict(
        extra='allow',
        populate_by_name=True,
    )
    cached_calls: Annotated[int, Field(ge=0)]
    """
    Calls that the cache answered.
    """
    cached_tokens: Annotated[int | None, Field(ge=0)] = None
    """
    Of the prompt tokens, those that a server had in its cache.
    """
    completion_tokens: Annotated[int, Field(ge=0)]
    llm_calls: Annotated[int, Field(ge=0)]
    """
    Calls that reached a model.
    """
    prompt_tokens: Annotated[int, Field(ge=0)]
    """
    Tokens of the calls that reached a model.
    """
    reasoning_tokens: Annotated[int | None, Field(ge=0)] = None
    """
    Of the completion tokens, those of thoughts.
    """
    usd: float


class ValueRange(BaseModel):
    """
    A range of numbers or dates.
    """

    model_config = ConfigDict(
        extra='allow',
        populate_by_name=True,
    )
    gt: FieldValue | None = None
    gte: FieldValue | None = None
    lt: FieldValue | None = None
    lte: FieldValue | None = None


class Verdict(Enum):
    """
    What a person says of an answer.
    """

    right = 'right'
    wrong = 'wrong'
    incomplete = 'incomplete'


class AcceptedItem(RootModel[int]):
    root: Annotated[int, Field(ge=0)]


class WorkspaceLine(BaseModel):
    model_config = ConfigDict(
        extra='allow',
        populate_by_name=True,
    )
    created: AwareDatetime | None = None
    documents: Annotated[int, Field(ge=0)]
    name: str


class Error(BaseModel):
    model_config = ConfigDict(
        extra='allow',
        populate_by_name=True,
    )
    message: str
    type: str
    code: str
    param: str | None = None
    request_id: str | None = None


class OpenAiError(BaseModel):
    model_config = ConfigDict(
        extra='allow',
        populate_by_name=True,
    )
    error: Error


class BuildReport(BaseModel):
    """
    What a build did.
    """

    model_config = ConfigDict(
        extra='allow',
        populate_by_name=True,
    )
    __annotations__ = {
        '__pydantic_extra__': Dict[str, Any],
    }
    refused: list[RefusedFile]
    """
    In a list of builds the first ones of each.
    """
    refused_files: Annotated[int, Field(ge=0)]
    """
    How many were refused. Reports on disk may be without it.
    """


class BuildStatus(BaseModel):
    """
    The status of a build.
    """

    model_config = ConfigDict(
        extra='allow',
        populate_by_name=True,
    )
    created: AwareDatetime
    done: Annotated[int, Field(ge=0)]
    error: str | None = None
    finished: AwareDatetime | None = None
    id: str
    rate_per_s: float | None = None
    rebuild: list[BasePart] | None = None
    """
    Parts of the base that it makes again.
    """
    report: BuildReport | None = None
    seconds_left: float | None = None
    stage: str
    """
    What is being done; `waiting` while an earlier build runs.
    """
    started: AwareDatetime | None = None
    state: BuildPhase
    total: Annotated[int, Field(ge=0)]


class Citation(BaseModel):
    """
    A passage the answer rests on. `start..end` are characters (Unicode scalar values) of the
    document's text.
    """

    model_config = ConfigDict(
        extra='allow',
        populate_by_name=True,
    )
    document: str
    """
    The document's name: its path below the indexed folder, or the record's id.
    """
    end: Annotated[int, Field(ge=0)]
    node: str
    """
    The name of a node, derived from its content, so that the same input gives the same base.
    """
    page: Annotated[int | None, Field(ge=0)] = None
    quote: str
    section: str | None = None
    start: Annotated[int, Field(ge=0)]
    title: str


class Compared(BaseModel):
    model_config = ConfigDict(
        extra='allow',
        populate_by_name=True,
    )
    comparison: dict[str, Any] | None = None
    """
    The comparison as `halma eval compare --json` prints it; `null` where the runs have no
    scored question in common.
    """
    flips: list[Flip]


class DocumentDetail(BaseModel):
    """
    A document with its parts.
    """

    model_config = ConfigDict(
        extra='allow',
        populate_by_name=True,
    )
    author: str | None = None
    bytes: Annotated[int | None, Field(ge=0)] = None
    counts: dict[Literal['document', 'section', 'chunk', 'table', 'figure', 'row', 'atom', 'summary', 'tag', 'entity', 'fact', 'community'], CountsAdditionalProperty]
    """
    Number of nodes of each layer.
    """
    date: str | None = None
    format: str
    id: str
    language: str | None = None
    length: Annotated[int, Field(ge=0)]
    """
    Characters of its text.
    """
    metadata: dict[str, FieldValue]
    """
    Fields that a user gave to it.
    """
    names: list[str]
    """
    The first one is displayed; the others are copies with the same text.
    """
    original: bool
    """
    Whether the original file can be downloaded.
    """
    sections: list[SectionLine]
    title: str
    url: str | None = None
    warnings: list[str]


class DocumentLine(BaseModel):
    """
    A document in a list.
    """

    model_config = ConfigDict(
        extra='allow',
        populate_by_name=True,
    )
    atoms: Annotated[int, Field(ge=0)]
    bytes: Annotated[int | None, Field(ge=0)] = None
    """
    Size of the original file, where it is stored.
    """
    chunks: Annotated[int, Field(ge=0)]
    error: str | None = None
    format: str
    id: str
    metadata: dict[str, FieldValue] | None = None
    """
    Fields that a user gave to it.
    """
    name: str
    """
    Its path below the folder of originals.
    """
    state: DocumentState
    title: str
    updated: AwareDatetime | None = None


class DocumentText(BaseModel):
    model_config = ConfigDict(
        extra='allow',
        populate_by_name=True,
    )
    end: Annotated[int, Field(ge=0)]
    length: Annotated[int, Field(ge=0)]
    """
    Characters of the document's whole text.
    """
    pages: list[PageRange]
    start: Annotated[int, Field(ge=0)]
    """
    Characters of the document's text.
    """
    text: str


class EdgeLine(BaseModel):
    model_config = ConfigDict(
        extra='allow',
        populate_by_name=True,
    )
    edge: Edge
    from_: Annotated[str, Field(alias='from')]
    """
    The name of a node, derived from its content, so that the same input gives the same base.
    """
    to: str
    """
    The name of a node, derived from its content, so that the same input gives the same base.
    """
    weight: float


class EvaluationLine(BaseModel):
    """
    An evaluation in a list.
    """

    model_config = ConfigDict(
        extra='allow',
        populate_by_name=True,
    )
    at: AwareDatetime | None = None
    dataset: str
    id: str
    n: Annotated[int, Field(ge=0)]
    """
    Questions that were to be asked.
    """
    runs: list[RunLine]


class EvaluationRun(BaseModel):
    """
    How far an evaluation is.
    """

    model_config = ConfigDict(
        extra='allow',
        populate_by_name=True,
    )
    done: Annotated[int, Field(ge=0)]
    error: str | None = None
    """
    Why it failed.
    """
    failed: Annotated[int, Field(ge=0)]
    """
    Questions that failed so far.
    """
    id: str
    label: str
    """
    The strategy that is being asked, or `retrieval`.
    """
    name: str
    started: AwareDatetime
    state: RunState
    total: Annotated[int, Field(ge=0)]


class FeedbackCandidate(BaseModel):
    """
    Something that may become knowledge, or has.
    """

    model_config = ConfigDict(
        extra='allow',
        populate_by_name=True,
    )
    answer: str
    at: Annotated[int, Field(ge=0)]
    """
    When, in seconds since 1970; 0 while it is pending.
    """
    atom: str | None = None
    by: str | None = None
    """
    Who decided: id of a key, `verifier`, or empty on the command line.
    """
    check: Check | None = None
    kind: CandidateKind
    number: Annotated[int, Field(ge=0)]
    """
    Within its feedback, from 1.
    """
    question: str
    sources: list[str]
    """
    The chunks that it rests on.
    """
    state: CandidateState


class GiveFeedback(BaseModel):
    """
    What a person says of an answer.
    """

    model_config = ConfigDict(
        extra='allow',
        populate_by_name=True,
    )
    correction: str | None = None
    """
    What the answer should be.
    """
    note: str | None = None
    """
    Anything else about the answer.
    """
    run: str
    """
    Id of the run: `id` of the answer and of its trace.
    """
    verdict: Verdict


class Hit(BaseModel):
    """
    A node that a search found.
    """

    model_config = ConfigDict(
        extra='allow',
        populate_by_name=True,
    )
    cosine: float | None = None
    """
    Cosine in `[-1, 1]` between query and node, where both have a vector. Thresholds are
    stated in it (`docs/concepts/scores.md`).
    """
    document: str
    """
    The document's name: its path below the indexed folder, or the record's id.
    """
    id: str
    """
    The name of a node, derived from its content, so that the same input gives the same base.
    """
    layer: Layer
    page: Annotated[int | None, Field(ge=0)] = None
    parent: str | None = None
    parts: list[ScorePart] | None = None
    """
    What the score is made of; empty where it is one thing only.
    """
    score: float
    """
    What the list is ordered by: cosine for a dense search, BM25 for a word search, the fused
    reciprocal rank for a hybrid one, the sum of its parts for a graph search.
    """
    section: str | None = None
    span: Span
    text: str
    title: str


class HitLine(BaseModel):
    """
    A hit as the trace keeps it.
    """

    model_config = ConfigDict(
        extra='allow',
        populate_by_name=True,
    )
    id: str
    """
    The name of a node, derived from its content, so that the same input gives the same base.
    """
    score: float
    text: str
    title: str


class IdeaEvidence(BaseModel):
    """
    A thing that is known, with the nodes that it comes from.
    """

    model_config = ConfigDict(
        extra='allow',
        populate_by_name=True,
    )
    about: str
    """
    The question that it answers, or the title of its document.
    """
    nodes: list[str]
    text: str


class IdeaStep1(BaseModel):
    """
    What is known before anyone proposes, and the questions that stayed open. Evidence counts
    from 1.
    """

    model_config = ConfigDict(
        extra='allow',
        populate_by_name=True,
    )
    evidence: list[IdeaEvidence]
    open: list[str]
    step: Step


class IdeaStep3(BaseModel):
    """
    What an agent looked up and proposes. Its evidence is counted on from the board's.
    """

    model_config = ConfigDict(
        extra='allow',
        populate_by_name=True,
    )
    agent: Annotated[int, Field(ge=0)]
    evidence: list[IdeaEvidence]
    ideas: list[ProposedIdea]
    step: Step2


class IdeaStep(RootModel[IdeaStep1 | IdeaStep2 | IdeaStep3 | IdeaStep4 | IdeaStep5]):
    root: IdeaStep1 | IdeaStep2 | IdeaStep3 | IdeaStep4 | IdeaStep5
    """
    What agents with different perspectives do on the way to ideas, one step at a time.
    """


class Item(BaseModel):
    """
    The status of a build.
    """

    model_config = ConfigDict(
        extra='allow',
        populate_by_name=True,
    )
    created: AwareDatetime
    done: Annotated[int, Field(ge=0)]
    error: str | None = None
    finished: AwareDatetime | None = None
    id: str
    rate_per_s: float | None = None
    rebuild: list[BasePart] | None = None
    """
    Parts of the base that it makes again.
    """
    report: BuildReport | None = None
    seconds_left: float | None = None
    stage: str
    """
    What is being done; `waiting` while an earlier build runs.
    """
    started: AwareDatetime | None = None
    state: BuildPhase
    total: Annotated[int, Field(ge=0)]


class ItemsBuildStatus(BaseModel):
    """
    A page of a list.
    """

    model_config = ConfigDict(
        extra='allow',
        populate_by_name=True,
    )
    items: list[Item]
    next: str | None = None
    """
    What to send as `after` for the next page; absent on the last one.
    """


class Item2(BaseModel):
    """
    A document in a list.
    """

    model_config = ConfigDict(
        extra='allow',
        populate_by_name=True,
    )
    atoms: Annotated[int, Field(ge=0)]
    bytes: Annotated[int | None, Field(ge=0)] = None
    """
    Size of the original file, where it is stored.
    """
    chunks: Annotated[int, Field(ge=0)]
    error: str | None = None
    format: str
    id: str
    metadata: dict[str, FieldValue] | None = None
    """
    Fields that a user gave to it.
    """
    name: str
    """
    Its path below the folder of originals.
    """
    state: DocumentState
    title: str
    updated: AwareDatetime | None = None


class ItemsDocumentLine(BaseModel):
    """
    A page of a list.
    """

    model_config = ConfigDict(
        extra='allow',
        populate_by_name=True,
    )
    items: list[Item2]
    next: str | None = None
    """
    What to send as `after` for the next page; absent on the last one.
    """


class Item3(BaseModel):
    """
    An evaluation in a list.
    """

    model_config = ConfigDict(
        extra='allow',
        populate_by_name=True,
    )
    at: AwareDatetime | None = None
    dataset: str
    id: str
    n: Annotated[int, Field(ge=0)]
    """
    Questions that were to be asked.
    """
    runs: list[RunLine]


class ItemsEvaluationLine(BaseModel):
    """
    A page of a list.
    """

    model_config = ConfigDict(
        extra='allow',
        populate_by_name=True,
    )
    items: list[Item3]
    next: str | None = None
    """
    What to send as `after` for the next page; absent on the last one.
    """


class Item4(BaseModel):
    """
    How far an evaluation is.
    """

    model_config = ConfigDict(
        extra='allow',
        populate_by_name=True,
    )
    done: Annotated[int, Field(ge=0)]
    error: str | None = None
    """
    Why it failed.
    """
    failed: Annotated[int, Field(ge=0)]
    """
    Questions that failed so far.
    """
    id: str
    label: str
    """
    The strategy that is being asked, or `retrieval`.
    """
    name: str
    started: AwareDatetime
    state: RunState
    total: Annotated[int, Field(ge=0)]


class ItemsEvaluationRun(BaseModel):
    """
    A page of a list.
    """

    model_config = ConfigDict(
        extra='allow',
        populate_by_name=True,
    )
    items: list[Item4]
    next: str | None = None
    """
    What to send as `after` for the next page; absent on the last one.
    """


class Item5(BaseModel):
    """
    Feedback on an answer.
    """

    model_config = ConfigDict(
        extra='allow',
        populate_by_name=True,
    )
    answer: str
    at: Annotated[int, Field(ge=0)]
    """
    Seconds since 1970.
    """
    by: str
    """
    Id of the key that gave it; empty on the command line.
    """
    candidates: list[FeedbackCandidate]
    cited: list[str]
    """
    The chunks that the answer cites.
    """
    contradicts: list[str] | None = None
    """
    Ids of feedback that says otherwise: on the same run, or of the same question.
    """
    correction: str | None = None
    dismissed: bool
    """
    It was rejected as a whole.
    """
    documents: list[str]
    """
    Names of the documents that the run quotes.
    """
    id: str
    note: str | None = None
    question: str
    run: str
    """
    Id of the trace, which may be deleted by now.
    """
    strategy: str
    verdict: Verdict


class ItemsFeedback(BaseModel):
    """
    A page of a list.
    """

    model_config = ConfigDict(
        extra='allow',
        populate_by_name=True,
    )
    items: list[Item5]
    next: str | None = None
    """
    What to send as `after` for the next page; absent on the last one.
    """


class Item6(BaseModel):
    """
    A node that a search found.
    """

    model_config = ConfigDict(
        extra='allow',
        populate_by_name=True,
    )
    cosine: float | None = None
    """
    Cosine in `[-1, 1]` between query and node, where both have a vector. Thresholds are
    stated in it (`docs/concepts/scores.md`).
    """
    document: str
    """
    The document's name: its path below the indexed folder, or the record's id.
    """
    id: str
    """
    The name of a node, derived from its content, so that the same input gives the same base.
    """
    layer: Layer
    page: Annotated[int | None, Field(ge=0)] = None
    parent: str | None = None
    parts: list[ScorePart] | None = None
    """
    What the score is made of; empty where it is one thing only.
    """
    score: float
    """
    What the list is ordered by: cosine for a dense search, BM25 for a word search, the fused
    reciprocal rank for a hybrid one, the sum of its parts for a graph search.
    """
    section: str | None = None
    span: Span
    text: str
    title: str


class ItemsHit(BaseModel):
    """
    A page of a list.
    """

    model_config = ConfigDict(
        extra='allow',
        populate_by_name=True,
    )
    items: list[Item6]
    next: str | None = None
    """
    What to send as `after` for the next page; absent on the last one.
    """


class Item8(BaseModel):
    """
    An entity in a list.
    """

    model_config = ConfigDict(
        extra='allow',
        populate_by_name=True,
    )
    id: str
    """
    The name of a node, derived from its content, so that the same input gives the same base.
    """
    kind: str
    """
    `person`, `place` …; empty where it is not known.
    """
    mentions: Annotated[int, Field(ge=0)]
    """
    How many chunks and documents name it.
    """
    name: str


class ItemsListedEntity(BaseModel):
    """
    A page of a list.
    """

    model_config = ConfigDict(
        extra='allow',
        populate_by_name=True,
    )
    items: list[Item8]
    next: str | None = None
    """
    What to send as `after` for the next page; absent on the last one.
    """


class Item11(BaseModel):
    """
    A table as SQL knows it.
    """

    model_config = ConfigDict(
        extra='allow',
        populate_by_name=True,
    )
    caption: str | None = None
    columns: list[ColumnLine]
    document: str | None = None
    """
    `None` for what was made from facts or unites tables.
    """
    id: str
    """
    For what unites several tables: that of the first.
    """
    name: str
    page: Annotated[int | None, Field(ge=0)] = None
    refused: str | None = None
    """
    Why it cannot be read in SQL.
    """
    rows: Annotated[int, Field(ge=0)]
    unites: list[str] | None = None
    """
    Names of the tables whose rows this one unites.
    """


class ItemsTableLine(BaseModel):
    """
    A page of a list.
    """

    model_config = ConfigDict(
        extra='allow',
        populate_by_name=True,
    )
    items: list[Item11]
    next: str | None = None
    """
    What to send as `after` for the next page; absent on the last one.
    """


class Item12(BaseModel):
    """
    What a list shows of a question.
    """

    model_config = ConfigDict(
        extra='allow',
        populate_by_name=True,
    )
    abstained: bool
    answer: str | None = None
    """
    The answer's text; empty for an abstention.
    """
    at: AwareDatetime
    conversation: str | None = None
    """
    The conversation of the question, as its client calls it.
    """
    documents: list[str]
    """
    Names of the documents that the trace quotes.
    """
    elapsed_ms: float
    error: str | None = None
    """
    Why there is no answer.
    """
    hops: Annotated[int, Field(ge=0)]
    id: str
    key: str | None = None
    """
    The id of the API key that asked; `None` without keys and on the command line.
    """
    question: str
    strategy: str
    usage: UsageTotal


class ItemsTraceHead(BaseModel):
    """
    A page of a list.
    """

    model_config = ConfigDict(
        extra='allow',
        populate_by_name=True,
    )
    items: list[Item12]
    next: str | None = None
    """
    What to send as `after` for the next page; absent on the last one.
    """


class KeptLine(KeptPart):
    """
    A part that stays as it was made, and what it would cost to make it again by `rebuild`.
    """

    model_config = ConfigDict(
        extra='allow',
        populate_by_name=True,
    )
    cost: RebuildCost | None = None


class LearnRequest(BaseModel):
    """
    Questions with what is known of their answers.
    """

    model_config = ConfigDict(
        extra='allow',
        populate_by_name=True,
    )
    replace: bool | None = None
    """
    Forget what was learned from samples that are not in this request.
    """
    samples: list[TagSample]
    """
    Each with a `question` and an `answer` (or `answers`), or `documents` that answer it.
    """


class ListedEntity(BaseModel):
    """
    An entity in a list.
    """

    model_config = ConfigDict(
        extra='allow',
        populate_by_name=True,
    )
    id: str
    """
    The name of a node, derived from its content, so that the same input gives the same base.
    """
    kind: str
    """
    `person`, `place` …; empty where it is not known.
    """
    mentions: Annotated[int, Field(ge=0)]
    """
    How many chunks and documents name it.
    """
    name: str


class Mention(BaseModel):
    """
    An entity as a text names it.
    """

    model_config = ConfigDict(
        extra='allow',
        populate_by_name=True,
    )
    kind: str
    """
    `person`, `place`, `organisation`, `work`, `event`, `date`, `number`, or what the tagger
    calls it; `name` where it tells no kinds apart.
    """
    score: float
    """
    How sure the tagger is, between 0 and 1.
    """
    span: Span
    """
    Where it stands, in characters of the text.
    """
    text: str
    """
    As it stands in the text.
    """


class ModelLine(BaseModel):
    model_config = ConfigDict(
        extra='allow',
        populate_by_name=True,
    )
    model: str
    name: str
    price: Price
    url: str
    """
    Empty for the built-in offline model.
    """


class ModelServer(BaseModel):
    """
    A server with an OpenAI-compatible list of models.
    """

    model_config = ConfigDict(
        extra='allow',
        populate_by_name=True,
    )
    kind: str
    """
    The program, as far as it is known: `Ollama`, `llama.cpp`, `LM Studio`, `vLLM`.
    """
    loading: bool
    """
    It is loading its model and does not list it yet.
    """
    models: list[ServedModel]
    url: str
    """
    The base of its API.
    """


class ModelServers(BaseModel):
    model_config = ConfigDict(
        extra='allow',
        populate_by_name=True,
    )
    servers: list[ModelServer]


class Models(BaseModel):
    model_config = ConfigDict(
        extra='allow',
        populate_by_name=True,
    )
    models: list[ModelLine]
    roles: dict[str, str]
    """
    The model of each role.
    """


class NearestPassage(BaseModel):
    """
    A passage that is shown where there is no answer.
    """

    model_config = ConfigDict(
        extra='allow',
        populate_by_name=True,
    )
    source: Citation
    """
    Where it is; it quotes the sentence that is nearest to the question.
    """
    text: str
    """
    The whole passage.
    """


class Neighbourhood(BaseModel):
    """
    A node and the nodes that share an edge with it.
    """

    model_config = ConfigDict(
        extra='allow',
        populate_by_name=True,
    )
    center: Hit
    cut: bool
    """
    Whether there are more.
    """
    edges: list[EdgeLine]
    nodes: list[Hit]


class Problem(BaseModel):
    """
    An error as reported to the client.
    """

    model_config = ConfigDict(
        extra='allow',
        populate_by_name=True,
    )
    detail: str
    """
    What exactly is wrong.
    """
    hint: str | None = None
    """
    What to do about it.
    """
    missing_scope: Scope | None = None
    request_id: str
    """
    The value of the header `x-request-id`, which also identifies the request in the log.
    """
    status: Annotated[int, Field(ge=0)]
    title: str
    """
    A short summary.
    """
    type: str
    """
    The kind of problem, such as `urn:halma:not-found`.
    """


class PromptDetail(PromptLine):
    model_config = ConfigDict(
        extra='allow',
        populate_by_name=True,
    )
    shipped_text: str
    """
    The text that is shipped with Halma.
    """
    text: str


class SearchResponse(BaseModel):
    model_config = ConfigDict(
        extra='allow',
        populate_by_name=True,
    )
    hits: list[Hit]


class SeriesForecast(BaseModel):
    """
    A series by period and how it was continued.
    """

    model_config = ConfigDict(
        extra='allow',
        populate_by_name=True,
    )
    caveats: list[str]
    """
    What was left out, and what was assumed.
    """
    errors: list[MethodError]
    """
    Mean absolute errors of the methods on values that were held back.
    """
    granularity: str
    """
    `day`, `month`, `quarter` or `year`.
    """
    group: str
    """
    The group that it is of; empty where there is one.
    """
    measure: str
    """
    `count`, `sum`, `mean` or `event`.
    """
    method: str
    """
    How it was continued; why not, where it was not.
    """
    points: list[SeriesPoint]
    predictions: list[SeriesPrediction]
    """
    Empty where there is no basis for a forecast.
    """
    target: str
    """
    What was counted or measured.
    """
    unit: str
    """
    Empty where it is a number of things.
    """


class SqlResult(BaseModel):
    """
    What a query over the base's tables gave.
    """

    model_config = ConfigDict(
        extra='allow',
        populate_by_name=True,
    )
    columns: list[str]
    cut: bool
    """
    Rows beyond the limit were left out.
    """
    documents: list[str]
    """
    Names of the documents whose tables were read.
    """
    rows: list[SqlRow]


class Timeline(BaseModel):
    """
    The dated events of the entities of one name.
    """

    model_config = ConfigDict(
        extra='allow',
        populate_by_name=True,
    )
    cut: bool
    """
    Whether there are more than were asked for.
    """
    entities: list[str]
    """
    Their names; several where they share the one that was asked for.
    """
    events: list[TimelineEvent]
    """
    In the order of their dates.
    """
    unread: Annotated[int, Field(ge=0)]
    """
    Passages that name them and were not read: of each entity the first 5,000 are.
    """


class TraceHead(BaseModel):
    """
    What a list shows of a question.
    """

    model_config = ConfigDict(
        extra='allow',
        populate_by_name=True,
    )
    abstained: bool
    answer: str | None = None
    """
    The answer's text; empty for an abstention.
    """
    at: AwareDatetime
    conversation: str | None = None
    """
    The conversation of the question, as its client calls it.
    """
    documents: list[str]
    """
    Names of the documents that the trace quotes.
    """
    elapsed_ms: float
    error: str | None = None
    """
    Why there is no answer.
    """
    hops: Annotated[int, Field(ge=0)]
    id: str
    key: str | None = None
    """
    The id of the API key that asked; `None` without keys and on the command line.
    """
    question: str
    strategy: str
    usage: UsageTotal


class Trial(BaseModel):
    """
    What a model did with a small real question.
    """

    model_config = ConfigDict(
        extra='allow',
        populate_by_name=True,
    )
    advice: str | None = None
    """
    What should be changed, if anything.
    """
    context: Annotated[int | None, Field(ge=0)] = None
    """
    Tokens of prompt and reply together, where the server says it.
    """
    efforts: list[EffortEstimate]
    """
    What a question will take.
    """
    is_slow: bool
    """
    Whether a question takes too long where the model has all roles: it should only read.
    """
    json_: Annotated[str, Field(alias='json')]
    """
    In which form its server takes requests for JSON.
    """
    outcome: TrialOutcome
    prompt_tokens_per_second: float | None = None
    """
    Tokens of a prompt read in a second; unknown where the server does not stream.
    """
    tokens_per_second: float
    """
    Tokens of a reply written in a second.
    """


class Answer(BaseModel):
    """
    What a strategy returns. An abstention has empty `text` and says why in `reason`.
    """

    model_config = ConfigDict(
        extra='allow',
        populate_by_name=True,
    )
    abstained: bool
    """
    The knowledge does not hold the answer.
    """
    citations: list[Citation]
    computation: str | None = None
    """
    How the text was computed from what is cited, where it was: by a query, a count, a forecast.
    No citation has to state it.
    """
    confidence: float | None = None
    """
    In `[0, 1]` where the strategy can tell.
    """
    full: FullAnswer | None = None
    kind: ResultKind | None = None
    limitation: str | None = None
    """
    What the answer falls short of, in a sentence for people: a summary in place of a forecast.
    """
    partial: bool
    """
    A budget was spent before the strategy was done.
    """
    passages: list[NearestPassage] | None = None
    """
    The passages nearest to a question that has no answer, nearest first.
    """
    reason: str
    """
    The reader's account of how the answer follows, or why there is none.
    """
    steps: list[AnswerStep] | None = None
    """
    The way to the answer, in the order of the hops.
    """
    text: str


class AskResponse(BaseModel):
    """
    An answer, with the trace that explains it.
    """

    model_config = ConfigDict(
        extra='allow',
        populate_by_name=True,
    )
    answer: Answer
    elapsed_ms: float
    first_word_ms: float | None = None
    """
    Milliseconds from the question to the first word of the answer.
    """
    hops: Annotated[int, Field(ge=0)]
    id: str
    """
    The id of the trace.
    """
    question: str
    """
    The question as resolved with the conversation; may differ from the question sent.
    """
    strategy: str
    usage: UsageTotal


class BuildEstimate(BaseModel):
    """
    What a build would cost.
    """

    model_config = ConfigDict(
        extra='allow',
        populate_by_name=True,
    )
    calls: Annotated[int, Field(ge=0)]
    chunks: Annotated[int, Field(ge=0)]
    documents: Annotated[int, Field(ge=0)]
    """
    New and changed documents.
    """
    kept: list[KeptLine]
    """
    Parts that would stay as they were made although the configuration says otherwise.
    """
    seconds: float
    stages: list[StageEstimate]
    tokens: Annotated[int, Field(ge=0)]
    usd: float
    """
    US dollars, by the prices in the configuration.
    """


class Feedback(BaseModel):
    """
    Feedback on an answer.
    """

    model_config = ConfigDict(
        extra='allow',
        populate_by_name=True,
    )
    answer: str
    at: Annotated[int, Field(ge=0)]
    """
    Seconds since 1970.
    """
    by: str
    """
    Id of the key that gave it; empty on the command line.
    """
    candidates: list[FeedbackCandidate]
    cited: list[str]
    """
    The chunks that the answer cites.
    """
    contradicts: list[str] | None = None
    """
    Ids of feedback that says otherwise: on the same run, or of the same question.
    """
    correction: str | None = None
    dismissed: bool
    """
    It was rejected as a whole.
    """
    documents: list[str]
    """
    Names of the documents that the run quotes.
    """
    id: str
    note: str | None = None
    question: str
    run: str
    """
    Id of the trace, which may be deleted by now.
    """
    strategy: str
    verdict: Verdict


class NewKey(BaseModel):
    """
    A key to create.
    """

    model_config = ConfigDict(
        extra='allow',
        populate_by_name=True,
    )
    budget_per_day_usd: float | None = None
    calls_per_day: Annotated[int | None, Field(ge=0)] = None
    expires: AwareDatetime | None = None
    name: str
    scopes: list[Scope]
    where: dict[str, FieldValue | ValueRange] | None = None
    workspace: str | None = None
    """
    `default` by default.
    """


class TraceDetail(BaseModel):
    """
    A question with everything that happened while it was answered.
    """

    model_config = ConfigDict(
        extra='allow',
        populate_by_name=True,
    )
    abstained: bool
    answer: Answer | None = None
    at: AwareDatetime
    conversation: str | None = None
    """
    The conversation of the question, as its client calls it.
    """
    elapsed_ms: float
    error: str | None = None
    hops: Annotated[int, Field(ge=0)]
    id: str
    key: str | None = None
    """
    The id of the key that asked.
    """
    question: str
    strategy: str
    trace: list[TraceEvent]
    usage: UsageTotal


class VerifiedFeedback(BaseModel):
    """
    What a verifier did with the candidates of feedback.
    """

    model_config = ConfigDict(
        extra='allow',
        populate_by_name=True,
    )
    accepted: list[AcceptedItem]
    """
    Numbers of the candidates that are accepted now.
    """
    deferred: list[DeferredCandidate]
    """
    Those that a person has to decide about, with the reason.
    """
    feedback: Feedback
    usage: UsageTotal


class Filter(BaseModel):
    """
    What a hit must belong to. An empty list asks for nothing; several values of one list are
    alternatives; all lists must be met.
    """

    model_config = ConfigDict(
        extra='allow',
        populate_by_name=True,
    )
    documents: list[str] | None = []
    """
    Names of documents; `*` stands for any characters.
    """
    feedback: bool | None = None
    """
    `true`: only what was accepted from answers; `false`: nothing of it, and nothing weighed by
    it. By default `feedback.search` of the configuration decides.
    """
    formats: list[str] | None = []
    """
    Formats of files, as `halma kb list` shows them: `pdf`, `docx`, `markdown` …
    """
    metadata: Annotated[
        dict[str, FieldValue | ValueRange] | None, Field(validate_default=True)
    ] = {}
    """
    Conditions on the fields that users gave to documents.
    """
    sections: list[str] | None = []
    """
    Headings; `*` stands for any characters, case is ignored.
    """
    since: str | None = None
    """
    Documents dated on this day or later, as `2023-01-31`, `2023-01` or `2023`.
    """
    tags: list[str] | None = []
    """
    Tags of chunks, by name.
    """
    until: str | None = None
    """
    Documents dated on this day or earlier.
    """


class Item7(BaseModel):
    """
    An API key, without its secret.
    """

    model_config = ConfigDict(
        extra='allow',
        populate_by_name=True,
    )
    budget_per_day_usd: float | None = None
    """
    US dollars that its questions and builds may cost per day (UTC).
    """
    calls_per_day: Annotated[int | None, Field(ge=0)] = None
    """
    Model calls that its questions and builds may make per day (UTC).
    """
    created: AwareDatetime
    expires: AwareDatetime | None = None
    id: str
    name: str
    """
    Who or what uses it.
    """
    scopes: list[Scope]
    where: dict[str, FieldValue | ValueRange] | None = None
    workspace: str


class ItemsKey(BaseModel):
    """
    A page of a list.
    """

    model_config = ConfigDict(
        extra='allow',
        populate_by_name=True,
    )
    items: list[Item7]
    next: str | None = None
    """
    What to send as `after` for the next page; absent on the last one.
    """


class Key(BaseModel):
    """
    An API key, without its secret.
    """

    model_config = ConfigDict(
        extra='allow',
        populate_by_name=True,
    )
    budget_per_day_usd: float | None = None
    """
    US dollars that its questions and builds may cost per day (UTC).
    """
    calls_per_day: Annotated[int | None, Field(ge=0)] = None
    """
    Model calls that its questions and builds may make per day (UTC).
    """
    created: AwareDatetime
    expires: AwareDatetime | None = None
    id: str
    name: str
    """
    Who or what uses it.
    """
    scopes: list[Scope]
    where: dict[str, FieldValue | ValueRange] | None = None
    workspace: str


class Me(BaseModel):
    model_config = ConfigDict(
        extra='allow',
        populate_by_name=True,
    )
    demo: bool
    """
    Whether this is the demo library.
    """
    keys_required: bool
    """
    Whether requests require a key.
    """
    name: str | None = None
    """
    The key's name.
    """
    scopes: list[Scope]
    where: dict[str, FieldValue | ValueRange] | None = None
    workspace: str


class SearchRequest(BaseModel):
    """
    A search of one layer.
    """

    model_config = ConfigDict(
        extra='allow',
        populate_by_name=True,
    )
    filter: Filter | None = None
    layer: Layer | None = None
    limit: Annotated[int | None, Field(ge=0)] = None
    """
    Maximum number of hits: 50 by default, at most 500.
    """
    mode: Mode | None = None
    text: str
    """
    `query` is the same.
    """


class AskRequest(BaseModel):
    """
    A question and how to answer it.
    """

    model_config = ConfigDict(
        extra='allow',
        populate_by_name=True,
    )
    answer_kind: AnswerKind | None = None
    answer_style: AnswerStyle | None = None
    asked_at: str | None = None
    """
    The date of the question, such as `2024-02-28`: what changes with time is answered for it.
    """
    budget: Budget | None = None
    conversation: str | None = None
    """
    The conversation that the question belongs to: an id of the client's choice, 8 to 64 letters,
    digits, `-` and `_`. Its questions are listed together.
    """
    effort: Effort | None = None
    filter: Filter | None = None
    history: list[Turn] | None = None
    """
    The conversation so far, oldest turn first; the question may refer to it.
    """
    options: list[str] | None = None
    """
    The choices of a multiple-choice question.
    """
    question: str
    settings: dict[str, Any] | None = None
    """
    Settings of the strategy for this question.
    """
    strategy: str | None = None
    """
    The strategy; the configured one by default.
    """
    stream: bool | None = None
    """
    Stream events; so does the header `accept: text/event-stream`.
    """


class ChatRequest(BaseModel):
    model_config = ConfigDict(
        extra='allow',
        populate_by_name=True,
    )
    answer_style: AnswerStyle | None = None
    filter: Filter | None = None
    messages: list[ChatMessage]
    model: str
    """
    `halma-<strategy>`, or `halma` for the configured strategy.
    """
    n: Annotated[int | None, Field(ge=0)] = None
    """
    Must be 1.
    """
    stream: bool | None = None
    stream_options: StreamOptions | None = None


class CreatedKey(Key):
    """
    A new key; this response is the only one that contains its secret.
    """

    model_config = ConfigDict(
        extra='allow',
        populate_by_name=True,
    )
    key: str
    """
    What a client sends: `halma_<id>_<secret>`.
    """


FieldValue.model_rebuild()
