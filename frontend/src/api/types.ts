import type { components, paths } from "./schema";

// Types of the API under the names that pages use. They are generated from its OpenAPI document, except that
// configurations get a narrower type, which OpenAPI cannot express: flat values and lists of numbers.

type Schema = components["schemas"];
/** Query parameters of a GET endpoint. */
export type QueryOf<Path extends keyof paths> = paths[Path] extends {
  get: { parameters: { query?: infer Query } };
}
  ? NonNullable<Query>
  : never;

type With<T, Narrower> = Omit<T, keyof Narrower> & Narrower;

export type ConfigValue = string | number | boolean | null | readonly number[];
export type RunConfig = Record<string, ConfigValue>;
/** JSON has no NaN or infinity, so the API sends these strings. */
export type MetricValue = number | "NaN" | "Infinity" | "-Infinity";

export type Run = With<Schema["Run"], { config: RunConfig }>;
export type RolePlace = Schema["RolePlace"];
export type RunState = Run["state"];
/** Fields of a listed run that only some requests include. */
type ListDetail = "config" | "notes" | "study" | "trained_seconds" | "versions" | "command" | "reported_key";
/** A run in a list, with the fields that a table shows. Every `Run` has them too. */
export type ListedRun = Pick<Run, Exclude<keyof Schema["ListedRun"] & keyof Run, ListDetail | "failure">> & {
  failure: Schema["FailureMessage"] | null;
  /** The fields that the list requests. */
  config?: RunConfig;
  /** The metrics that the list requests. */
  metrics?: Schema["ListedRun"]["metrics"];
  /** The computed columns that the list requests, by name. */
  computed?: Record<string, number | null> | null;
  /** If the list requests notes. */
  notes?: string;
};
export interface RunPage {
  items: ListedRun[];
  total: number;
  next_cursor: string | null;
}
export type CheckedExpression = Schema["CheckedExpression"];
export type ListedGroup = Schema["ListedGroup"];
export type Facets = Schema["Facets"];
export type FailureGroup = Schema["FailureGroup"];
export type CapLimits = Schema["CapLimits"];
export type UsedCap = Schema["UsedCap"];
export type LaunchRequest = Schema["CreateRun"];
export type RunNeeds = Schema["RunNeeds"];
export type ParsedConfig = Schema["ParsedText"];
export type RunForecast = Schema["RunForecast"];
export type RunEdit = Schema["EditRun"];
export type BulkRequest = Schema["StartBulkAction"];
/** An action that changes the state of runs. */
export type BulkAction = Exclude<BulkRequest["action"], "tag" | "untag" | "move">;
export type SkippedRun = Schema["Skipped"];

export type SavedView = Schema["SavedView"];

export type ProjectSummary = Schema["ProjectSummary"];
export type Project = Schema["Project"];
export type ProjectAgent = Schema["ProjectAgent"];
export type ProjectEdit = Schema["EditProject"];
export type MoveItems = Partial<Schema["MoveItems"]>;
export type MovedItems = Schema["MovedItems"];

export type Provenance = Schema["Provenance"];
export type AttemptSummary = Schema["AttemptSummary"];
export type RunProvenance = Schema["RunProvenance"];

export type MetricSeries = Schema["SeriesPoints"];
export type Metrics = Schema["RunMetrics"];

export type Mark = Schema["Mark"];
export type RunMarks = Schema["RunMarks"];
export type AnomalyRule = Schema["AnomalyRule"];
export type Finding = Schema["Finding"];

export type MetricSection = Schema["MetricSection"];
/** The server sends every trait. */
export type FigureKind = Required<Schema["FigureKind"]>;

export type MediaItem = Schema["MediaItem"];
export type MediaPage = Schema["MediaPage"];
export type MediaSeries = Schema["MediaSeries"];

export type LogLine = Schema["LogEntry"];
export type LogPage = Schema["LogPage"];
export type Checkpoint = Schema["RunCheckpoint"];
export type RunChange = With<Schema["RunChange"], { fields: RunConfig; previous: RunConfig }>;
export type RunChanges = With<Schema["RunChanges"], { items: RunChange[]; start_config: RunConfig }>;
export type Replay = Schema["Replay"];
export type Track = Schema["Track"];
export type Saliency = Schema["ReplaySaliency"];
export type SaliencyMaps = Schema["SaliencyMaps"];
export type FuturesRequest = Schema["SimulateFutures"];
export type FuturesDocument = Schema["FuturesDocument"];
export type Futures = Schema["Futures"];
export type FuturesSummary = Schema["FuturesSummary"];
export type Future = Schema["Future"];
export type Review = Schema["Review"];
export type ReviewDocument = Schema["ReviewDocument"];
export type ReviewKeptGame = Schema["ReviewKeptGame"];
export type ReviewOptions = Schema["ReviewOptions"];
export type Practice = Schema["Practice"];
export type PracticeDocument = Schema["PracticeDocument"];
export type PracticeOptions = Schema["PracticeOptions"];
export type PracticePreview = Schema["PracticeCostPreview"];
export type ReviewedDecision = Required<Schema["ReviewedDecision"]>;
export type ActionFutures = Schema["ActionFutures"];
export type Challenge = Schema["Challenge"];
export type LiveGame = Schema["LiveGame"];
export type KeptGame = Schema["KeptGame"];
export type PlayedGame = Schema["PlayedGame"];
export type Recording = Schema["Recording"];
export type RecordingRequest = Schema["RecordingRequest"];
export type JobKind = Schema["JobClaim"]["kind"];
export type Evaluation = Schema["RunEvaluation"];
export type EvaluationWithEpisodes = Schema["EvaluationWithEpisodes"];
export type EvaluationPage = Schema["EvaluationPage"];
export type EvaluationChoices = Schema["EvaluationChoices"];
export type EvaluationRequest = Schema["EvaluationRequest"];
export type Calibration = Schema["RunCalibration"];
export type CalibrationWithDocument = Schema["CalibrationWithDocument"];
export type CalibrationDocument = Schema["CalibrationDocument"];
export type CalibrationErrors = Schema["CalibrationErrors"];
export type CalibrationRequest = Schema["CalibrationRequest"];
export type JudgedMoment = Schema["JudgedMoment"];
export type SavedStartPoints = Schema["SavedStartPoints"];
export type StartPointsRequest = Schema["SaveStartPoints"];
export type StartSet = Schema["StartSet"];
export type StartSetFile = Schema["StartSetFile"];
export type Acting = Schema["Acting"];

export type Games = Schema["Games"];
export type GameCard = Schema["GameCard"];
export type BestScore = Schema["BestScore"];
export type MethodScore = Schema["MethodScore"];
export type GameAverage = Schema["Average"];
export type PublishedAverage = Schema["PublishedAverage"];
export type Game = Schema["Game"];
export type GamePicture = Schema["Picture"];
export type ScoreTable = Schema["ScoreTable"];
export type ScoreRow = Schema["TableRow"];
export type RunScore = Schema["RunScore"];
export type WaitingRun = Schema["WaitingRun"];

export type StudySummary = Schema["StudySummary"];
export type StudyPage = Schema["StudyPage"];
export type Study = Schema["Study"];
export type StudyPoint = Schema["StudyPoint"];
export type StudyRun = Schema["StudyRun"];
export type StudySpecification = Schema["Specification"];
export type StartStudy = Schema["StartStudy"];
export type StudyPreview = Schema["Preview"];
export type ExtendStudy = Schema["ExtendStudy"];

export type GameList = Schema["SuiteList"];
export type SuiteRequest = Schema["SuiteRequest"];
export type Aggregates = Schema["Aggregates"];
export type SuiteResult = Schema["SuiteResult"];
export type SuiteGame = Schema["SuiteGame"];

export type Paper = Schema["PaperSummary"];
export type PaperItemSummary = Schema["ItemSummary"];
export type PaperItem = Schema["PaperItem"];
export type PaperDiagram = Schema["Diagram"];
export type PaperPanel = Schema["Panel"];
export type PaperStudy = Schema["PaperStudy"];
export type PaperPreview = Schema["PaperPreview"];
export type PreviewPart = Schema["PreviewPart"];
export type StartPart = Schema["StartPart"];
export type PaperMeasurement = Schema["Measurement"];

export type ReportSummary = Schema["ReportSummary"];
export type Report = Schema["Report"];
/** A block as the server stores it. */
export type StoredBlock = Report["blocks"][number];
export type ReportBlock = Exclude<StoredBlock, { kind: "draft" }>;
export type SharedReport = Schema["SharedReport"];
export type BlockContent = Schema["BlockContent"];
export type ReportTable = Schema["ReportTable"];
export type ReportReplay = Schema["ReplayContent"];
export type ReportReview = Schema["ReviewContent"];
export type ReportPractice = Schema["PracticeContent"];

export type Board = Schema["Board"];
export type BoardPanel = Schema["BoardPanel"];
export type EmbeddedPanel = Schema["EmbeddedPanel"];

export type Alert = Schema["Alert"];
export type AlertPage = Schema["AlertPage"];
export type AlertRule = Schema["AlertRule"];
export type RuleKind = AlertRule["kind"];
export type RuleEdit = Schema["EditAlertRule"];
export type ScoreRule = Schema["ScoreRule"];
export type NewScoreRule = Schema["AddScoreRule"];
export type AlertChannel = Schema["AlertChannel"];
export type AddedChannel = Schema["AddedChannel"];
export type NewChannel = Schema["AddChannel"];
export type ChannelEdit = Schema["EditChannel"];
export type AlertDelivery = Schema["AlertDelivery"];
export type DeliveryPage = Schema["DeliveryPage"];

export type Preset = With<Schema["Preset"], { config: RunConfig }>;
export type Environment = Schema["Environment"];
export type EnvironmentFamily = Schema["EnvironmentFamily"];
export type AllowedPlugin = Schema["AllowedPlugin"];
export type Worker = Schema["Worker"];
export type ExecutorName = Schema["ExecutorChoice"]["name"];
export type SchedulerName = Exclude<ExecutorName, "workers">;
export type SchedulerSettings = Schema["SlurmSettings"] | Schema["RaySettings"];
export type SubmissionOfRun = Schema["SubmissionOfRun"];
export type Health = Schema["Health"];
export type Session = Schema["Session"];

export type Account = Schema["Account"];
export type Person = Schema["Person"];
export type PersonEdit = Schema["EditPerson"];
export type NewPerson = Schema["NewPerson"];
export type NewPeople = Schema["InvitePeople"];
export type NewMembers = Schema["InviteMembers"];
export type Invitation = Schema["Invitation"];
export type FirstAccount = Schema["FirstAccount"];
export type PersonGroup = Schema["PersonGroup"];
export type GroupEdit = Schema["EditGroup"];
export type ProjectMembers = Schema["ProjectMembers"];
export type ProjectMember = Schema["ProjectMember"];
export type NewMember = Schema["AddMember"];
export type RoleName = ProjectMember["role"];
export type OpenSession = Schema["OpenSession"];
export type AccessToken = Schema["AccessToken"];
export type UsageTable = Schema["UsageTable"];
export type StartCalibration = Schema["StartCalibration"];
export type NewToken = Schema["CreateToken"];
export type CreatedToken = Schema["CreatedToken"];
export type TokenScope = AccessToken["scopes"][number];
export type WaitingLogin = Schema["WaitingLogin"];
export type LoginConfirmation = Schema["ConfirmLogin"];
export type AuditEntry = Schema["AuditEntry"];
export type AuditFacets = Schema["AuditFacets"];
export type AuditPage = Schema["AuditPage"];
export type SignInMethods = Schema["SignInMethods"];
export type OneTimeLink = Schema["OpenedLink"];
export type Figure = Schema["Figure"];

export type Difference = With<Schema["FieldDifference"], { values: Record<string, ConfigValue> }>;
/** A run in a comparison, with the name, color and dash of its curve. */
export type ComparedRun = Run & Pick<Schema["ComparedRun"], "label" | "dash">;
export type Verdict = Schema["Verdict"];
export type Thresholds = Schema["Thresholds"];
export type Comparison = With<
  Schema["Comparison"],
  { runs: ComparedRun[]; differences: Difference[]; provenance: Difference[] }
>;
