import type { Event } from './event.js';
import type { WorkItemSummary } from './work-item.js';

const nothing = { requests: 0, tokens: 0, costMicros: null };

/** A board row with nothing spent. */
export function sampleSummary(): WorkItemSummary {
  return {
    id: '0198f6b2-0000-7000-8000-000000000001',
    title: 'Make the failing test pass',
    status: 'running',
    reason: null,
    revisions: { revision: 1, planRevision: 2, resultsRevision: 3, coordinatorRevision: 4, progressRevision: 5 },
    createdAt: 1_700_000_000_000,
    updatedAt: 1_700_000_000_001,
    model: 'simulated:default',
    deliveryTarget: 'workspace_files',
    workDirName: 'app',
    goalProgress: { completed: 0, total: 1, remaining: 1 },
    actions: { total: 3, completed: 1, running: 1, waiting: 0, failed: 0 },
    coordinator: 'idle',
    needCount: 0,
    need: null,
    statistics: {
      total: nothing,
      byKind: [{ kind: 'action', ...nothing }],
      unmeasuredRequests: 0,
      runs: 1,
      loops: 2,
      toolCalls: 3,
      failedToolCalls: 0,
    },
    control: {
      account: 'item:0198f6b2-0000-7000-8000-000000000001',
      revision: 0,
      version: [12, 0],
      status: 'open',
      limits: {
        maxRequests: 200,
        maxTokens: 2_000_000,
        maxCostMicros: null,
        maxRunRequests: 40,
        maxAttempts: 3,
        maxConsecutiveFailures: 3,
      },
      charged: nothing,
      spent: nothing,
      held: nothing,
      unknown: nothing,
      left: { requests: 200, tokens: 2_000_000, costMicros: null },
      breakdown: [],
      inFlight: 0,
      unmeasuredRequests: 0,
      stopReason: null,
      consecutiveFailures: 0,
      retryAfter: null,
      attempts: [],
      omittedAttemptCount: 0,
    },
    lastEventSeq: 7,
  };
}

/** An event with the row as it is now. */
export function sampleEvent(): Event {
  const summary = sampleSummary();
  return {
    storeId: 'store-1',
    itemId: summary.id,
    seq: 7,
    at: 1_700_000_000_001,
    type: 'action.completed',
    actionId: `${summary.id}/inspect`,
    runId: 'run-1',
    text: 'inspect completed',
    summary,
  };
}
