/** Where a run is killed in each kind of sweep, and the right end of each point. */
import { callsWithResults, type Scenario } from '@stint/simulator';

/** Steps of a run, each with a reading and a writing call. */
export const stepCount = 10;
const answers = stepCount + 1;

/** What a crash at a point leaves, and what the resumed run must make of it. */
export interface RightEnd {
  /** The request that was in flight is unknown, and a person is asked. */
  readonly asksAboutTurn?: true;
  /** The call that was in flight is unknown, and a person is asked. */
  readonly asksAboutCall?: true;
  /** Requests to the provider beyond those of an uninterrupted run. */
  readonly extraRequests?: number;
  /** The effect of the call in flight is missing: it never began. */
  readonly effectMissing?: true;
  /** Passings of this point in an uninterrupted run. @default one a step */
  readonly passings?: number;
  /** What differs at every other passing, of kinds with two requests a turn: the second one continues the first. */
  readonly atSecond?: Omit<RightEnd, 'passings'>;
}

export interface Kind {
  /** What the scenario is to do; also the name of the model that is asked for. */
  readonly model: 'm' | 'cuts' | 'long' | 'typed';
  readonly isAskable?: true;
  /** Its points are met by the first kind, too, but for what is special to this one. @default false */
  readonly isVariant?: true;
  /** Requests of an uninterrupted run. */
  readonly requests: number;
  /** Answers that count, of any run. */
  readonly answers: number;
  readonly rightEnds: Readonly<Record<string, RightEnd>>;
}

/** Points between requests and in tools; where nothing was in flight the end is that of an uninterrupted run. */
const inTools: Readonly<Record<string, RightEnd>> = {
  'read tool:before': {},
  'read tool:during': {},
  'read tool:after': {},
  'write tool:before': {},
  'operation:started': { asksAboutCall: true, effectMissing: true },
  'write tool:during': { asksAboutCall: true, effectMissing: true },
  'write tool:after': { asksAboutCall: true },
  'operation:done': { asksAboutCall: true },
  'operation:ended': {},
};

export const kinds: Readonly<Record<string, Kind>> = {
  'a provider that cannot be asked': {
    model: 'm',
    requests: answers,
    answers,
    rightEnds: {
      'turn:begun': { passings: answers },
      'turn:prepared': { passings: answers },
      'turn:started': { asksAboutTurn: true, passings: answers },
      'turn:streaming': { asksAboutTurn: true, extraRequests: 1, passings: answers },
      'turn:answered': { asksAboutTurn: true, extraRequests: 1, passings: answers },
      'turn:finished': { passings: answers },
      ...inTools,
    },
  },
  'a provider that keeps its answers': {
    model: 'm',
    isAskable: true,
    isVariant: true,
    requests: answers,
    answers,
    rightEnds: {
      'turn:prepared': { passings: answers },
      // Not a byte has come back, so there is no id to ask for.
      'turn:started': { asksAboutTurn: true, passings: answers },
      'turn:identified': { passings: answers },
      'turn:streaming': { passings: answers },
      'turn:answered': { passings: answers },
      'turn:finished': { passings: answers },
    },
  },
  'a provider whose streams are cut': {
    model: 'cuts',
    isVariant: true,
    requests: 2 * answers,
    answers,
    rightEnds: {
      // What was shown of the broken answer is stored by the request that continues it, and so is lost before that.
      'turn:begun': { passings: 2 * answers, atSecond: { extraRequests: 1 } },
      'turn:prepared': { passings: 2 * answers, atSecond: { extraRequests: 1 } },
      'turn:started': { asksAboutTurn: true, passings: 2 * answers },
      'turn:failing': { asksAboutTurn: true, extraRequests: 1, passings: answers },
      'turn:failed': { extraRequests: 1, passings: answers },
      'turn:answered': { asksAboutTurn: true, extraRequests: 1, passings: answers },
      'turn:finished': { passings: answers },
    },
  },
  'a model that reaches its output limit': {
    model: 'long',
    isVariant: true,
    requests: 2 * answers,
    answers: 2 * answers,
    rightEnds: {
      'turn:prepared': { passings: 2 * answers },
      'turn:started': { asksAboutTurn: true, passings: 2 * answers },
      'turn:answered': { asksAboutTurn: true, extraRequests: 1, passings: 2 * answers },
      'turn:finished': { passings: 2 * answers },
    },
  },
  // A person types meanwhile, the context is small, and a tool ends the run: its results are stored without a request.
  'a run that is typed to, is cut down and is ended by a tool': {
    model: 'typed',
    isVariant: true,
    requests: answers,
    answers,
    rightEnds: {
      'input:draining': { passings: answers },
      'input:drained': { passings: answers },
      'history:compacting': { passings: 3 },
      'history:compacted': { passings: 3 },
      'turn:started': { asksAboutTurn: true, passings: answers },
      'turn:answered': { asksAboutTurn: true, extraRequests: 1, passings: answers },
      'turn:finished': { passings: answers },
      'input:closing': { passings: 1 },
      'input:closed': { passings: 1 },
      'entries:storing': { passings: 1 },
    },
  },
};

/** What is typed to a run of kind `typed`, and after how many answers. */
export const typedInputs = [
  { id: 'first', after: 0 },
  { id: 'second', after: 3 },
  { id: 'third', after: 7 },
].map((input) => ({ ...input, message: `typed ${input.id}` }));

/** Ten steps with two calls each, and an end. `salt` makes what is written unlike that of any other run. */
export function scenarioOf(salt: string): Scenario {
  return (request) => {
    const last = request.messages.at(-1);
    const isContinued = last?.role === 'user' && last.text.startsWith('Your answer was interrupted');
    const step = stepsBefore(request.messages) + callsWithResults(request, 'write').length;
    const isFirstHalf = (request.model === 'cuts' || request.model === 'long') && !isContinued;
    const trouble = request.model === 'cuts' && isFirstHalf ? { fault: 'stream_cut' as const } : {};
    if (request.model === 'long' && isFirstHalf) return { text: `half of ${step}, `, finishReason: 'length' };
    if (step >= stepCount && request.model === 'typed') return { toolCalls: [{ name: 'submit', input: { salt } }] };
    if (step >= stepCount) return { text: `finished ${salt}`, pieceCharacters: 4, ...trouble };
    const calls = [
      { name: 'look', input: { step } },
      { name: 'write', input: { line: `${salt}-${step}` } },
    ];
    return { text: `this is step ${step}`, pieceCharacters: 4, toolCalls: calls, ...trouble };
  };
}

/** Steps that a summary stands for. */
export function stepsBefore(messages: readonly { readonly role: string; readonly text?: string }[]): number {
  const summary = messages.find(({ role, text }) => role === 'user' && text?.startsWith('Steps done: '));
  return Number(summary?.text?.slice('Steps done: '.length) ?? 0);
}
