import {
  type ActionSummary,
  DTO_LIMITS,
  type FinalResult,
  MAX_DTO_BYTES,
  type Message,
  type Need,
  type WorkItemDetail,
} from '@stint/contracts';
import type { ActionFragment } from './fragments.js';
import { cutToJsonSize, jsonSize } from './json-size.js';
import { messagePageOf } from './messages.js';

/** Counts that grow while cutting take a few more digits. */
const SPARE_BYTES = 256;

/** The detail while it is cut: its parts, and the bytes of each, so that nothing is measured twice. */
interface Draft {
  base: WorkItemDetail;
  /** Of `base` with no Actions and no messages. */
  baseBytes: number;
  actions: { summary: ActionSummary; bytes: number }[];
  messages: { message: Message; bytes: number }[];
  readonly actionCount: number;
  readonly messageCount: number;
  isCut: boolean;
}

/**
 * Brings a detail below `maxBytes` of JSON. Cut in this order, and only as far as needed:
 *
 * 1. statistics of Actions
 * 2. messages, the oldest first
 * 3. outcome and latest Run of the other Actions, those first that are finished
 * 4. the same of the current Action
 * 5. the other Actions, likewise
 * 6. briefs and all long texts to 4 KiB
 * 7. down to the minimal item: ids, all revisions, title, goal, criteria ids, status, statistics, execution control
 */
export function fitDetail(
  whole: WorkItemDetail,
  fragments: readonly ActionFragment[],
  currentActionId: string | null,
  maxBytes: number = MAX_DTO_BYTES,
): WorkItemDetail {
  const draft = toDraft(whole, fragments);
  for (const step of STEPS) {
    if (sizeOf(draft) <= maxBytes) break;
    step(draft, { currentActionId, maxBytes });
  }
  return assemble(draft);
}

interface Target {
  readonly currentActionId: string | null;
  readonly maxBytes: number;
}

const STEPS: readonly ((draft: Draft, target: Target) => void)[] = [
  dropStatistics,
  dropOldMessages,
  dropOtherBodies,
  dropCurrentBody,
  dropOtherActions,
  shortenTexts,
  keepMinimum,
];

function toDraft(whole: WorkItemDetail, fragments: readonly ActionFragment[]): Draft {
  const { messages, ...page } = whole.conversation;
  const base = { ...whole, actions: [], conversation: { ...page, messages: [] } };
  return {
    base,
    baseBytes: jsonSize(base),
    actions: fragments.map(({ summary, bytes }) => ({ summary, bytes })),
    messages: messages.map((message) => ({ message, bytes: jsonSize(message) })),
    actionCount: fragments.length,
    messageCount: messages.length + page.omittedMessageCount,
    isCut: false,
  };
}

function sizeOf({ baseBytes, actions, messages }: Draft): number {
  const sum = (parts: readonly { readonly bytes: number }[]): number =>
    parts.reduce((total, { bytes }) => total + bytes + 1, 0);
  return baseBytes + sum(actions) + sum(messages) + SPARE_BYTES;
}

function assemble(draft: Draft): WorkItemDetail {
  const messages = draft.messages.map(({ message }) => message);
  return {
    ...draft.base,
    actions: draft.actions.map(({ summary }) => summary),
    omittedActionCount: draft.actionCount - draft.actions.length,
    conversation: messagePageOf(messages, draft.messageCount),
    truncated: draft.base.truncated || draft.isCut,
  };
}

function dropStatistics(draft: Draft): void {
  replaceActions(draft, (summary) => ({ ...summary, statistics: null }));
}

function dropOldMessages(draft: Draft, { maxBytes }: Target): void {
  let over = sizeOf(draft) - maxBytes;
  let dropped = 0;
  while (over > 0 && dropped < draft.messages.length) {
    over -= (draft.messages[dropped]?.bytes ?? 0) + 1;
    dropped += 1;
  }
  draft.messages = draft.messages.slice(dropped);
  draft.isCut = true;
}

function dropOtherBodies(draft: Draft, { currentActionId, maxBytes }: Target): void {
  let over = sizeOf(draft) - maxBytes;
  for (const index of leastNeededFirst(draft)) {
    const part = draft.actions[index];
    if (over <= 0) return;
    if (part === undefined || part.summary.id === currentActionId) continue;
    const shorter = measured(withoutBody(part.summary));
    over -= part.bytes - shorter.bytes;
    draft.actions[index] = shorter;
    draft.isCut = true;
  }
}

function dropCurrentBody(draft: Draft, { currentActionId }: Target): void {
  replaceActions(draft, (summary) => (summary.id === currentActionId ? withoutBody(summary) : summary));
}

function dropOtherActions(draft: Draft, { currentActionId, maxBytes }: Target): void {
  let over = sizeOf(draft) - maxBytes;
  const gone = new Set<number>();
  for (const index of leastNeededFirst(draft)) {
    const part = draft.actions[index];
    if (over <= 0) break;
    if (part === undefined || part.summary.id === currentActionId) continue;
    over -= part.bytes + 1;
    gone.add(index);
  }
  draft.actions = draft.actions.filter((_, index) => !gone.has(index));
  draft.isCut = true;
}

function shortenTexts(draft: Draft): void {
  replaceActions(draft, (summary) => ({
    ...summary,
    question: summary.question === null ? null : short(summary.question),
    brief: summary.brief === null ? null : shortenBrief(summary.brief),
    truncated: true,
  }));
  const { base } = draft;
  rebase(draft, {
    ...base,
    needs: base.needs.map(shortenNeed),
    coordinator: {
      ...base.coordinator,
      question: base.coordinator.question === null ? null : short(base.coordinator.question),
    },
    finalResult: base.finalResult === null ? null : shortenResult(base.finalResult),
  });
}

const MINIMUM_NEEDS = 8;
const MINIMUM_NEED_BYTES = 512;

function keepMinimum(draft: Draft): void {
  const { base } = draft;
  const needs = base.needs
    .slice(0, MINIMUM_NEEDS)
    .map((need) => ({ ...need, text: cutToJsonSize(need.text, MINIMUM_NEED_BYTES) }));
  draft.actions = [];
  draft.messages = [];
  rebase(draft, {
    ...base,
    contract: {
      ...base.contract,
      acceptanceCriteria: base.contract.acceptanceCriteria.map(({ id }) => ({ id, text: '' })),
    },
    goalProgress: base.goalProgress === null ? null : countsOnly(base.goalProgress),
    coordinator: { ...base.coordinator, question: null },
    needs,
    omittedNeedCount: base.omittedNeedCount + base.needs.length - needs.length,
    unknownTurns: [],
    unknownOperations: [],
    finalResult: null,
  });
}

function countsOnly(progress: NonNullable<WorkItemDetail['goalProgress']>): WorkItemDetail['goalProgress'] {
  return {
    ...progress,
    criteria: [],
    omittedCriteriaCount: progress.omittedCriteriaCount + progress.criteria.length,
    evidenceRunIds: [],
    blockers: [],
    omittedBlockerCount: progress.omittedBlockerCount + progress.blockers.length,
    delivery: { ...progress.delivery, evidenceRunIds: [] },
  };
}

function rebase(draft: Draft, base: WorkItemDetail): void {
  draft.base = base;
  draft.baseBytes = jsonSize(base);
  draft.isCut = true;
}

function replaceActions(draft: Draft, change: (summary: ActionSummary) => ActionSummary): void {
  draft.actions = draft.actions.map((part) => {
    const changed = change(part.summary);
    return changed === part.summary ? part : measured(changed);
  });
  draft.isCut = true;
}

function measured(summary: ActionSummary): { summary: ActionSummary; bytes: number } {
  return { summary, bytes: jsonSize(summary) };
}

function withoutBody(summary: ActionSummary): ActionSummary {
  return { ...summary, outcome: null, latestRun: null, truncated: true };
}

const FINISHED: ReadonlySet<string> = new Set(['superseded', 'cancelled', 'closed', 'completed']);

/** Indexes of Actions, finished ones before the others, each in the order of the plan. */
function leastNeededFirst({ actions }: Draft): number[] {
  const indexes = actions.map((_, index) => index);
  const isFinished = (index: number): boolean => FINISHED.has(actions[index]?.summary.status ?? '');
  return [...indexes.filter(isFinished), ...indexes.filter((index) => !isFinished(index))];
}

function short(text: string): string {
  return cutToJsonSize(text, DTO_LIMITS.cutTextBytes);
}

function shortenBrief(brief: NonNullable<ActionSummary['brief']>): ActionSummary['brief'] {
  return {
    objective: short(brief.objective),
    approach: short(brief.approach),
    expectedResult: short(brief.expectedResult),
  };
}

function shortenNeed(need: Need): Need {
  return { ...need, text: short(need.text) };
}

function shortenResult(result: FinalResult): FinalResult {
  return {
    ...result,
    summary: short(result.summary),
    outputs: result.outputs.map(({ kind, value }) => ({ kind, value: short(value) })),
    responses: result.responses.map(({ runId, text }) => ({ runId, text: short(text) })),
  };
}
