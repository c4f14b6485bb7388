/* What the modules of the page pass to each other, for JSDoc; the browser never sees this file.

   `Reply` mirrors src/localface/apps/web/response_models.py: what the service answers.
   `Page` is the page's own. */

declare namespace Reply {
  type Value = string | number | boolean;
  type Values = Record<string, Value | null>;

  interface Target {
    sentence: string;
    label: string;
    min_score: number;
    at_most: boolean;
    kind: "probability" | "decision" | "value";
    low: number;
    high: number;
  }

  /** A feature, for showing its values. */
  interface FeatureName {
    name: string;
    unit: string | null;
    kind: "numeric" | "integer" | "ordinal" | "binary" | "categorical";
    categories: Value[] | null;
    labels: string[] | null;
    text: string;
    reference: [Value | null, Value | null] | null;
    reference_text: string | null;
  }

  /** A feature, for asking about it too. */
  interface Feature extends FeatureName {
    moves: "freely" | "up" | "down" | "never" | "grows";
    within: number | null;
    bounds: [number | null, number | null] | null;
    resolution: number | null;
    whole: boolean;
    low: number | null;
    high: number | null;
    middle: Value;
    group: string;
    may_be_missing: boolean;
    codes: { value: number; text: string }[];
  }

  /** GET /schema */
  interface Schema {
    title: string;
    note: string;
    version: string;
    rows: number;
    each_row: { one: string; many: string };
    target: Target;
    min_density: number;
    people: boolean;
    outcomes: boolean;
    plane: boolean;
    retrained: boolean;
    promises: boolean;
    features: Feature[];
    relations: string[][];
  }

  interface PersonLine {
    id: number;
    label: string;
    score: number | null;
    score_text: string;
    reached: boolean;
    outcome: string | null;
    gist: string;
  }

  /** GET /people */
  interface People {
    total: number;
    offset: number;
    understood?: string;
    people: PersonLine[];
  }

  interface Change {
    feature: string;
    unit: string | null;
    before: Value;
    after: Value;
    before_text: string;
    after_text: string;
    text: string;
    words?: string;
  }

  interface Action {
    number: number;
    changes: Change[];
    score: number;
    score_text: string;
    density: number;
    density_text: string;
    below_floor?: boolean;
    needs: number[];
    order?: string | null;
    together: boolean;
    step: string;
    purpose: string | null;
    on_the_way: string | null;
    entry: boolean;
    evidence: string | null;
    firm?: string; // how exactly it has to be kept to, once that is known
  }

  interface State {
    label: string;
    record: Values;
    text: Record<string, string>;
    score: number;
    score_text: string;
    density: number;
  }

  interface Score {
    noun: string;
    now: number;
    end: number;
    wanted: number;
    at_most: boolean;
    low: number;
    high: number;
    now_text: string;
    end_text: string;
    wanted_text: string;
    reached: boolean;
  }

  interface Density {
    now: number;
    floor: number;
    text: string;
    kept?: number | null;
    kept_text?: string | null;
  }

  /** A value of the record that nobody in the data has. */
  interface Doubt {
    feature: string;
    text: string;
    suggestion: Value | null;
    suggestion_text: string | null;
  }

  interface View {
    status: "FOUND" | "ALREADY_THERE" | "NO_TARGET" | "UNREACHABLE" | "BUDGET" | "OUT_OF_TIME";
    cut_short?: boolean;
    word: string;
    sentence: string;
    reason: string;
    cautions?: string[];
    doubts?: Doubt[];
    notices: string[];
    headline: string;
    person: Values;
    score: Score;
    density: Density;
    actions: Action[];
    states: State[];
    path: State[];
    moved: string[];
    path_moved?: string[];
    features: FeatureName[];
    opens: string[][];
    disclosure: { rows: number; of: number; model_calls: number; text: string };
    proof: string | null;
    closing: string[];
    facts?: { term: string; text: string }[];
    firmness: string | null;
    robustness: number | null;
    models: { n: number; valid: number } | null;
    lasting: {
        probability: number;
        low: number;
        high: number;
        wanted: number | null;
        text: string;
    } | null;
    composed: boolean;
    effort?: number | null;
    each_row: { one: string; many: string };
    n_comparable: number | null;
  }

  interface Together {
    shared: string[];
    parts: string;
    sentence: string;
    disclosure: string;
  }

  interface Stages {
    explore: Page.Point[];
    trail: Page.Point[];
    actions: Page.Point[];
    exploit: Page.Point[];
    enhance: Page.Point[];
  }

  /** What `Recourse.from_json` reads, or, of several ways, `Alternatives.from_json`. */
  interface Document {
    answers?: Document[];
    [key: string]: unknown;
  }

  /** POST /recourse */
  interface Recourse {
    cautions: string[];
    view: View;
    alternatives: View[];
    together: Together | null;
    stages: Stages | null;
    document: Document;
    milliseconds: number;
  }

  /** Two features that do not go together. */
  interface Pair {
    features: string[];
    values: string[];
    count: number;
    expected: number;
    n_rows: number;
    alone: boolean;
    sentence: string;
  }

  /** One value of somebody beside those of comparable people. */
  interface Effect extends FeatureName {
    own: boolean;
    value: Value | null;
    value_text: string;
    missing: boolean;
    below: number | null;
    bins: number[];
    low: number | null;
    high: number | null;
    ordinary: Value | null;
    ordinary_text: string;
    score: number;
    score_text: string;
    effect: number;
    effect_text: string;
  }

  /** POST /effects */
  interface Effects {
    n_people: number;
    alike: string[];
    features: Effect[];
  }

  /** POST /promises */
  interface Promised {
    id: string;
    time: string;
    already: boolean;
    head: string;
  }

  /** POST /firmness */
  interface Firmness {
    plans: { firmness: string | null; actions: string[] }[];
    learning: boolean;
  }

  interface ScoreLine {
    score: number;
    score_text: string;
    reached: boolean;
  }

  /** POST /check */
  interface Check {
    cautions: string[];
    reachable: boolean;
    sentence: string;
    score: number;
    score_text: string;
    valid: boolean;
    density: number;
    density_text: string;
    step: string;
    refused_by: string[];
    findings: { text: string }[];
    pair: Pair | null;
    least: string | null;
    view: View | null;
    milliseconds: number;
  }

  interface Grid {
    x: number[];
    y: number[];
    score: number[][];
    density: number[][];
  }

  /** GET /map */
  interface Map {
    x: string;
    y: string;
    rows: number[][];
    grid: Grid;
    straight: StraightAxis[];
  }

  /** Values of an axis, and where they are in the space in which steps are straight. */
  interface StraightAxis {
    values: number[];
    at: number[];
  }

  /** How every error comes. */
  interface Failure {
    error?: { type?: string; message?: string; feature?: string | null; suggestion?: Value | null };
  }
}

declare namespace Page {
  type Value = Reply.Value;
  type Values = Reply.Values;
  type Point = [number, number];
  type Bounds = [Value | null, Value | null];

  /** Somebody's limit on one feature, on top of the schema's. */
  interface Limit {
    moves?: "up" | "down";
    bounds?: Bounds;
    categories?: Value[];
    pinned?: boolean;
  }

  /** What is asked about whom. */
  interface State {
    id: number | null;
    record: Values | null;
    label: string;
    limits: Record<string, Limit>;
    forbidden: string[];
    effort: Record<string, "easy" | "hard">;
    minScore: number | null;
    minDensity: number | null;
    relax: boolean;
    wish: Values;
  }

  /** What an answer was asked with; `quick`: in little time, while something moves. */
  interface Asked {
    state: State;
    quick: boolean;
  }

  /** A plan in a file. */
  interface Plan {
    format: string;
    saved: string;
    who: string;
    address: string;
    actions: string[];
    document: Reply.Document | null;
    notes: string;
  }

  type Edit = (state: State) => State;
  type Change = (edit: Edit) => void;

  /** What is sent to the service. */
  type Body = Record<string, unknown>;

  type Attribute = string | number | boolean | null | undefined | ((event: Event) => void);
  type Attributes = Record<string, Attribute>;
  type Child = Node | string | number | null | undefined | false | Child[];

  /** The values a slider of one feature has, as positions along it. */
  interface Track {
    min: number;
    max: number;
    step: number;
    own: number;
    read: (position: number) => Value;
    position: (value: Value) => number;
    show: (position: number) => string;
  }

  /** From data to pixels, linearly, and back. */
  interface Scale {
    (value: number): number;
    from: number;
    to: number;
    back: (pixel: number) => number;
  }

  /** The map's frame: from the units of the data to pixels, and back. */
  interface Frame {
    width: number;
    height: number;
    step: Point;
    names: [string, string];
    at: (point: readonly number[]) => Point;
    way: (points: readonly (readonly number[])[]) => Point[];
    back: (x: number, y: number) => Point;
  }

  interface Area {
    left: number;
    right: number;
    top: number;
    bottom: number;
  }

  /** One panel of the figure. */
  interface Panel {
    node: SVGSVGElement;
    point: (step: number) => void;
    nearest: (event: PointerEvent) => number;
  }

  type Along = "actions" | "path";

  /** What a view is drawn with; `along` is kept here between drawings. */
  interface ViewOptions {
    along?: Along;
    onAlong?: (along: Along) => void;
    onLeave?: (feature: string) => void;
    firmnessComes?: boolean;
    half?: boolean;
  }
}
