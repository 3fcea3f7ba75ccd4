import type {
  BridgeToBrowserFrame,
  ExecutionControl,
  ExecutionStatistics,
  WorkItemDetail,
  WorkItemSummary,
} from '@stint/contracts';

const none = { requests: 0, tokens: 0, costMicros: 0 };

export const aControl = (change: Partial<ExecutionControl> = {}): ExecutionControl => ({
  account: 'item:i1',
  revision: 1,
  version: [1, 0],
  status: 'open',
  limits: {
    maxRequests: 200,
    maxTokens: 1_000,
    maxCostMicros: null,
    maxRunRequests: 40,
    maxAttempts: 3,
    maxConsecutiveFailures: 3,
  },
  charged: none,
  spent: none,
  held: none,
  unknown: none,
  left: { requests: 200, tokens: 1_000, costMicros: null },
  breakdown: [],
  inFlight: 0,
  unmeasuredRequests: 0,
  stopReason: null,
  consecutiveFailures: 0,
  retryAfter: null,
  attempts: [],
  omittedAttemptCount: 0,
  ...change,
});

const statistics: ExecutionStatistics = {
  total: none,
  byKind: [],
  unmeasuredRequests: 0,
  runs: 0,
  loops: 0,
  toolCalls: 0,
  failedToolCalls: 0,
};

const revisions = (progressRevision: number): WorkItemDetail['revisions'] => ({
  revision: 1,
  planRevision: 0,
  resultsRevision: 0,
  coordinatorRevision: 0,
  progressRevision,
});

interface DetailChange {
  readonly status?: WorkItemDetail['status'];
  readonly progressRevision?: number;
  readonly version?: [number, number];
  readonly heldTokens?: number;
}

export const aDetail = ({
  status = 'ready',
  progressRevision = 1,
  version = [1, 0],
  heldTokens = 0,
}: DetailChange): WorkItemDetail => ({
  id: 'i1',
  storeId: 's',
  status,
  reason: null,
  revisions: revisions(progressRevision),
  createdAt: 1,
  updatedAt: 1,
  contract: {
    title: 'Mend it',
    goal: 'Mend it',
    acceptanceCriteria: [],
    omittedCriteriaCount: 0,
    deliveryTarget: null,
    workDir: null,
    model: null,
  },
  goalProgress: null,
  coordinator: { status: 'idle', question: null, since: null },
  actions: [],
  omittedActionCount: 0,
  conversation: { messages: [], omittedMessageCount: 0, before: null },
  needs: [],
  omittedNeedCount: 0,
  unknownTurns: [],
  unknownOperations: [],
  statistics,
  control: aControl({ version, held: { ...none, tokens: heldTokens } }),
  finalResult: null,
  lastEventSeq: 0,
  maskedSecretCount: 0,
  truncated: false,
});

export const aSummary = (change: Partial<WorkItemSummary>): WorkItemSummary => ({
  id: 'i1',
  title: 'Mend it',
  status: 'ready',
  reason: null,
  revisions: revisions(1),
  createdAt: 1,
  updatedAt: 1,
  model: null,
  deliveryTarget: null,
  workDirName: null,
  goalProgress: null,
  actions: { total: 0, completed: 0, running: 0, waiting: 0, failed: 0 },
  coordinator: 'idle',
  needCount: 0,
  need: null,
  statistics,
  control: aControl(),
  lastEventSeq: 0,
  ...change,
});

export const aHello = (): Extract<BridgeToBrowserFrame, { type: 'hello' }> => ({
  type: 'hello',
  protocol: 1,
  bridgeVersion: '0.0.0',
  user: { id: 'u', name: 'owner' },
  agents: [{ id: 'a', name: 'this machine', online: true, storeId: 's', seenAt: 1 }],
  heartbeatMs: 5_000,
});
