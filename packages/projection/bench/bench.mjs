// @ts-check
/** Detail of an item with 64 Actions, 500 Runs and 5 MB of text, beside one JSON.stringify of the result; and the next detail after a change to one Action. */
import { toWorkItemDetail } from '../dist/index.js';

const ITEM_ID = '0198f6b2-0000-7000-8000-000000000001';
const WORDS =
  'the test fails because sum returns a minus b where the assertion wants a plus b so read edit and run it'.split(' ');

/** Ordinary text of about `length` characters, random so that nothing can be kept from one text to the next. @param {number} length */
function randomText(length) {
  const words = [];
  for (let size = 0; size < length; ) {
    const word = `${WORDS[Math.floor(Math.random() * WORDS.length)]}${Math.random() < 0.1 ? '\n' : ''}`;
    words.push(word);
    size += word.length + 1;
  }
  return words.join(' ');
}

/** @param {number} index */
function makeAction(index) {
  const outcome = {
    summary: randomText(8_000),
    evidence: [{ kind: 'text', value: randomText(2_000) }],
    checks: [{ criterionId: 'c1', status: 'passed', evidence: randomText(1_000) }],
    outputs: [
      { kind: 'response', value: randomText(24_000) },
      { kind: 'response', value: randomText(24_000) },
    ],
    residualRisks: [],
  };
  return {
    id: `${ITEM_ID}/step-${index}`,
    slug: `step-${index}`,
    kind: 'work',
    status: index === 63 ? 'running' : 'completed',
    attention: null,
    objective: randomText(1_000),
    approach: randomText(1_000),
    expectedResult: randomText(1_000),
    dependencies: [],
    workspaceMode: 'shared',
    checkpoint: false,
    generation: 1,
    specHash: `hash-${index}`,
    attempts: 1,
    outcome,
    outcomeRunId: `run-${index}`,
    closingReason: null,
    createdAt: 1,
    updatedAt: 1,
  };
}

function makeSources() {
  const totals = {
    requests: 10,
    tokens: 5_000,
    costMicros: 900,
    heldTokens: 0,
    heldCostMicros: 0,
    open: 0,
    unknown: 0,
    unpriced: 0,
  };
  const runs = Array.from({ length: 500 }, (_, index) => ({
    id: `run-${index}`,
    actionId: `${ITEM_ID}/step-${index % 64}`,
    status: 'completed',
    reason: null,
    attempt: 1,
    generation: 1,
    outcome: null,
    startedAt: 1,
    endedAt: 2,
  }));
  const item = {
    id: ITEM_ID,
    status: 'running',
    attention: null,
    title: 'Bench',
    goal: randomText(15_000),
    acceptanceCriteria: Array.from({ length: 24 }, (_, index) => ({ id: `c${index + 1}`, text: randomText(600) })),
    deliveryTarget: 'response',
    workDir: '/home/ann/app',
    model: 'simulated:default',
    revision: 1,
    planRevision: 1,
    resultsRevision: 1,
    coordinatorRevision: 1,
    finalResult: null,
    completedAt: null,
    lastEventSeq: 1,
    createdAt: 1,
    updatedAt: 1,
  };
  const messages = Array.from({ length: 100 }, (_, index) => ({
    id: `m${index}`,
    seq: index + 1,
    role: 'user',
    text: randomText(12_000),
    clientMessageId: null,
    createdAt: 1,
  }));
  const account = {
    account: `item:${ITEM_ID}`,
    status: 'open',
    revision: 0,
    version: /** @type {const} */ ([1, 0]),
    limits: {},
    usage: totals,
    breakdown: { action: totals },
    remaining: { requests: null, tokens: null, costMicros: null },
    subjects: [],
    stopReason: null,
    blockedBy: null,
    failures: {},
    retryAfter: null,
    inFlight: 0,
  };
  const counts = { requests: 1, tokens: 1, loops: 1, toolCalls: 1, failedToolCalls: 0 };
  const actions = Array.from({ length: 64 }, (_, index) => makeAction(index));
  const runsOf = (/** @type {string} */ id) => runs.filter(({ actionId }) => actionId === id).length;
  return {
    storeId: 'store-1',
    records: {
      item,
      actions,
      runs,
      messages,
      messageCount: 100,
      openQuestions: [],
      openInputs: [],
      openMailbox: [],
      thinkingTurn: null,
    },
    account,
    runCounts: new Map(runs.map(({ id }) => [id, counts])),
    actionCounts: new Map(actions.map(({ id }) => [id, { ...counts, runs: runsOf(id) }])),
    unknownTurns: [],
    unknownOperations: [],
  };
}

/** Median time of one call, ms. @param {number} rounds @param {() => unknown} call */
function median(rounds, call) {
  const times = Array.from({ length: rounds * 5 }, () => {
    const start = performance.now();
    call();
    return performance.now() - start;
  }).toSorted((left, right) => left - right);
  return times[Math.floor(times.length / 2)] ?? 0;
}

/** @param {{ rounds?: number }} [options] */
export async function bench({ rounds = 7 } = {}) {
  const sources = makeSources();
  const { records } = sources;
  const detail = toWorkItemDetail(sources);
  const stringifyMs = median(rounds, () => JSON.stringify(detail));
  const firstMs = median(rounds, () => toWorkItemDetail(sources));
  const fragments = new Map();
  toWorkItemDetail(sources, { fragments });
  let change = 1;
  const nextMs = median(rounds, () => {
    change += 1;
    const actions = records.actions.map((action, index) => (index === 5 ? { ...action, updatedAt: change } : action));
    toWorkItemDetail({ ...sources, records: { ...records, actions } }, { fragments });
  });
  const row = (
    /** @type {string} */ name,
    /** @type {number} */ value,
    /** @type {number} */ baseline,
    /** @type {number} */ most,
  ) => ({
    name,
    value,
    unit: 'ms',
    baseline,
    ratio: value / baseline,
    target: `<= ${most} x`,
    met: value / baseline <= most,
  });
  return {
    bench: 'projection',
    rows: [
      row('first detail, beside JSON.stringify of it', firstMs, stringifyMs, 3),
      row('detail after a change to one Action, beside the first', nextMs, firstMs, 0.1),
    ],
  };
}
