import fc from 'fast-check';
import type {
  AccountRecord,
  ActionCounts,
  ActionRecord,
  ItemRecord,
  MessageRecord,
  RunCounts,
  RunRecord,
  TotalsRecord,
  WorkItemSources,
} from './records.js';

export const ITEM_ID = '0198f6b2-0000-7000-8000-000000000001';

export function sampleTotals(over: Partial<TotalsRecord> = {}): TotalsRecord {
  return {
    requests: 10,
    tokens: 5_000,
    costMicros: 900,
    heldTokens: 1_000,
    heldCostMicros: 200,
    open: 1,
    unknown: 1,
    unknownTokens: 500,
    unknownCostMicros: 100,
    unpriced: 0,
    ...over,
  };
}

export function sampleAccount(over: Partial<AccountRecord> = {}): AccountRecord {
  const usage = sampleTotals();
  return {
    account: `item:${ITEM_ID}`,
    status: 'open',
    revision: 0,
    version: [12, 0],
    limits: { maxRequests: 200, maxTokens: 2_000_000, maxAttempts: 3 },
    usage,
    breakdown: { action: usage },
    remaining: { requests: 190, tokens: 1_995_000, costMicros: null },
    subjects: [],
    stopReason: null,
    blockedBy: null,
    failures: {},
    retryAfter: null,
    inFlight: 1,
    ...over,
  };
}

export function sampleItem(over: Partial<ItemRecord> = {}): ItemRecord {
  return {
    id: ITEM_ID,
    status: 'running',
    attention: null,
    title: 'Make the failing test pass',
    goal: 'The test in sum.test.js fails. Make it pass.',
    acceptanceCriteria: [
      { id: 'c1', text: 'node --test passes' },
      { id: 'c2', text: 'only sum.js changes' },
    ],
    deliveryTarget: 'workspace_files',
    workDir: '/home/ann/projects/app',
    model: 'simulated:default',
    revision: 1,
    planRevision: 2,
    resultsRevision: 3,
    coordinatorRevision: 4,
    finalResult: null,
    completedAt: null,
    lastEventSeq: 9,
    createdAt: 1_700_000_000_000,
    updatedAt: 1_700_000_000_500,
    ...over,
  };
}

export function sampleAction(slug: string, over: Partial<ActionRecord> = {}): ActionRecord {
  return {
    id: `${ITEM_ID}/${slug}`,
    slug,
    kind: 'work',
    status: 'ready',
    attention: null,
    objective: `Do ${slug}`,
    approach: 'Read, then write.',
    expectedResult: 'It works.',
    dependencies: [],
    workspaceMode: 'shared',
    checkpoint: false,
    generation: 1,
    specHash: `hash-${slug}`,
    attempts: 0,
    outcome: null,
    outcomeRunId: null,
    closingReason: null,
    createdAt: 1_700_000_000_000,
    updatedAt: 1_700_000_000_000,
    ...over,
  };
}

export function sampleRun(id: string, slug: string, over: Partial<RunRecord> = {}): RunRecord {
  return {
    id,
    actionId: `${ITEM_ID}/${slug}`,
    status: 'running',
    reason: null,
    attempt: 1,
    generation: 1,
    outcome: null,
    startedAt: 1_700_000_000_000,
    endedAt: null,
    ...over,
  };
}

export function sampleMessage(seq: number, text: string): MessageRecord {
  const role = seq % 2 === 1 ? 'user' : 'coordinator';
  return { id: `m${seq}`, seq, role, text, clientMessageId: null, createdAt: 1_700_000_000_000 + seq };
}

export function sampleSources(over: Partial<WorkItemSources['records']> = {}): WorkItemSources {
  return {
    storeId: 'store-1',
    records: {
      item: sampleItem(),
      actions: [],
      runs: [],
      messages: [],
      messageCount: over.messages?.length ?? 0,
      openQuestions: [],
      openInputs: [],
      openMailbox: [],
      thinkingTurn: null,
      ...over,
    },
    account: sampleAccount(),
    runCounts: new Map<string, RunCounts>(),
    actionCounts: new Map<string, ActionCounts>(),
    unknownTurns: [],
    unknownOperations: [],
  };
}

/** Texts from empty to far above every bound, of characters that are one to six bytes in JSON. */
export function anyText(maxLength: number): fc.Arbitrary<string> {
  const unit = fc.constantFrom(
    'a',
    ' ',
    '\n',
    '"',
    '\\',
    '\u0001',
    'é',
    '漢',
    '😀',
    '\ud800',
    '/home/ann/x ',
    'sk-abcdefghij0123456789 ',
  );
  return fc
    .tuple(unit, unit, fc.integer({ min: 0, max: maxLength }))
    .map(([one, other, length]) =>
      (one + other).repeat(Math.ceil(length / (one.length + other.length))).slice(0, length),
    );
}
