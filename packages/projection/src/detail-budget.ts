import {
  type ActionSummary,
  DTO_LIMITS,
  type FinalResult,
  MAX_DTO_BYTES,
  type Message,
  type WorkItemDetail,
} from '@stint/contracts';
import { type ActionFragment, measure, type Measured } from './fragments.js';
import { cutToJsonSize, jsonSize } from './json-size.js';
import { messagePageOf, toMessage } from './messages.js';
import type { MessageRecord } from './records.js';
import type { TextGate } from './texts.js';

/** What may be put into a detail as far as there is room. */
export interface DetailParts {
  /** In the order of the plan. */
  readonly fragments: readonly ActionFragment[];
  /** The newest ones, oldest first. */
  readonly messages: readonly MessageRecord[];
  /** All there are. */
  readonly messageCount: number;
  /** The Action whose outcome is kept longest. */
  readonly currentActionId: string | null;
  readonly gate: TextGate;
  /** @default MAX_DTO_BYTES */
  readonly maxBytes?: number;
}

/** Digits of counts that are written at the end. */
const SPARE_BYTES = 256;
const COMMA = 1;
const NULL_BYTES = 4;

/** One Action on its way into the detail. */
interface Placed {
  readonly fragment: ActionFragment;
  summary: ActionSummary;
}

/** The detail as far as it is filled, and the bytes that are left. */
interface Filling {
  base: WorkItemDetail;
  roomBytes: number;
  /** By index of the plan. */
  readonly actions: Map<number, Placed>;
  messages: Message[];
}

/**
 * Fills a detail up to its byte budget, the most needed first; what finds no room is left out and counted. Seen from the other end, this is left out first:
 *
 * 1. statistics of Actions
 * 2. messages, the oldest first
 * 3. outcomes of the other Actions, finished ones first
 * 4. the outcome of the current Action
 * 5. the other Actions, finished ones first
 * 6. all of briefs and long texts that is above 4 KiB
 * 7. all but the minimal item: ids, all revisions, title, goal, criteria ids, status, statistics, execution control
 *
 * A step is taken only when the ones before it were not enough. What is left out is never made.
 */
export function fillDetail(base: WorkItemDetail, parts: DetailParts): WorkItemDetail {
  const { maxBytes = MAX_DTO_BYTES } = parts;
  const filling: Filling = {
    base,
    roomBytes: maxBytes - jsonSize(base) - SPARE_BYTES,
    actions: new Map(),
    messages: [],
  };
  const isWhole =
    fillShells(filling, parts, maxBytes) &&
    fillOutcomes(filling, parts) &&
    fillMessages(filling, parts) &&
    fillStatistics(filling);
  return assemble(filling, parts, isWhole);
}

/** Answers whether every Action found room. */
function fillShells(filling: Filling, parts: DetailParts, maxBytes: number): boolean {
  const order = mostNeededFirst(parts);
  const [current] = order;
  if (current === undefined ? filling.roomBytes < 0 : !placeShell(filling, current)) {
    shortenAll(filling, current, maxBytes);
    return false;
  }
  return order.slice(1).every((entry) => placeShell(filling, entry));
}

type Entry = readonly [index: number, fragment: ActionFragment];

function placeShell(filling: Filling, [index, fragment]: Entry): boolean {
  const { value, bytes } = withoutStatistics(fragment.shell());
  if (bytes + COMMA > filling.roomBytes) return false;
  filling.roomBytes -= bytes + COMMA;
  filling.actions.set(index, { fragment, summary: value });
  return true;
}

function withoutStatistics({ value, bytes }: Measured<ActionSummary>): Measured<ActionSummary> {
  const saved = jsonSize(value.statistics) - NULL_BYTES;
  return { value: { ...value, statistics: null }, bytes: bytes - saved };
}

/** Answers whether every outcome found room. */
function fillOutcomes(filling: Filling, parts: DetailParts): boolean {
  return mostNeededFirst(parts).every(([index, fragment]) => {
    const placed = filling.actions.get(index);
    const { value, bytes } = fragment.outcome();
    if (placed === undefined || bytes > filling.roomBytes) return false;
    filling.roomBytes -= bytes;
    placed.summary = { ...placed.summary, outcome: value };
    return true;
  });
}

/** From the newest backwards. Answers whether every message found room. */
function fillMessages(filling: Filling, { messages, gate }: DetailParts): boolean {
  const newest = messages.slice(-DTO_LIMITS.maxMessagesPerPage);
  const kept: Message[] = [];
  for (const record of newest.toReversed()) {
    const { value, bytes } = measure(toMessage(record, gate));
    if (bytes + COMMA > filling.roomBytes) break;
    filling.roomBytes -= bytes + COMMA;
    kept.push(value);
  }
  filling.messages = kept.toReversed();
  return kept.length === newest.length;
}

/** All or none. Answers whether there was room. */
function fillStatistics({ actions, roomBytes }: Filling): boolean {
  const all = [...actions.values()].map((placed) => ({ placed, statistics: placed.fragment.shell().value.statistics }));
  const bytes = all.reduce((sum, { statistics }) => sum + jsonSize(statistics), 0);
  if (bytes > roomBytes) return false;
  for (const { placed, statistics } of all) placed.summary = { ...placed.summary, statistics };
  return true;
}

/** The current Action alone with short texts; without it, or without room for it, the minimal item. */
function shortenAll(filling: Filling, current: Entry | undefined, maxBytes: number): void {
  const shortened = shortenBase(filling.base);
  const room = maxBytes - jsonSize(shortened) - SPARE_BYTES;
  const summary = current === undefined ? null : shortenAction(current[1].shell().value);
  const bytes = summary === null ? 0 : jsonSize(summary) + COMMA;
  if (bytes > room) {
    filling.base = minimalBase(shortened);
    return;
  }
  filling.base = shortened;
  if (current !== undefined && summary !== null) filling.actions.set(current[0], { fragment: current[1], summary });
}

function assemble(filling: Filling, parts: DetailParts, isWhole: boolean): WorkItemDetail {
  const { fragments, messageCount, gate } = parts;
  const placed = [...filling.actions].toSorted(([left], [right]) => left - right).map(([, one]) => one);
  const actions = placed.map(({ fragment, summary }) => markCut(fragment, summary));
  return {
    ...filling.base,
    actions,
    omittedActionCount: fragments.length - actions.length,
    conversation: messagePageOf(filling.messages, messageCount),
    maskedSecretCount: placed.reduce((sum, { fragment }) => sum + fragment.maskedCount, gate.maskedCount),
    truncated: !isWhole || gate.cutCount > 0 || actions.some(({ truncated }) => truncated),
  };
}

/** An Action says itself that something of it is missing. */
function markCut(fragment: ActionFragment, summary: ActionSummary): ActionSummary {
  const isMissing = summary.outcome === null && fragment.hasOutcome;
  return { ...summary, truncated: summary.truncated || isMissing || fragment.isCut };
}

const FINISHED: ReadonlySet<string> = new Set(['superseded', 'cancelled', 'closed', 'completed']);

/** The current Action, then those that are not finished, then the finished ones; each group from the end of the plan. */
function mostNeededFirst({ fragments, currentActionId }: DetailParts): Entry[] {
  const entries = [...fragments.entries()].toReversed();
  const isCurrent = ([, { id }]: Entry): boolean => id === currentActionId;
  const isFinished = ([, { status }]: Entry): boolean => FINISHED.has(status);
  const others = entries.filter((entry) => !isCurrent(entry));
  return [...entries.filter(isCurrent), ...others.filter((entry) => !isFinished(entry)), ...others.filter(isFinished)];
}

function short(text: string): string {
  return cutToJsonSize(text, DTO_LIMITS.cutTextBytes);
}

function shortenAction(shell: ActionSummary): ActionSummary {
  const { brief, question } = shell;
  return {
    ...shell,
    question: question === null ? null : short(question),
    brief:
      brief === null
        ? null
        : {
            objective: short(brief.objective),
            approach: short(brief.approach),
            expectedResult: short(brief.expectedResult),
          },
    statistics: null,
    truncated: true,
  };
}

function shortenBase(base: WorkItemDetail): WorkItemDetail {
  const { question } = base.coordinator;
  return {
    ...base,
    needs: base.needs.map((need) => ({ ...need, text: short(need.text) })),
    coordinator: { ...base.coordinator, question: question === null ? null : short(question) },
    finalResult: base.finalResult === null ? null : shortenResult(base.finalResult),
  };
}

function shortenResult(result: FinalResult): FinalResult {
  return {
    ...result,
    summary: short(result.summary),
    outputs: result.outputs.map(({ kind, value }) => ({ kind, value: short(value) })),
    responses: result.responses.map(({ runId, text }) => ({ runId, text: short(text) })),
  };
}

const MINIMUM_NEEDS = 8;
const MINIMUM_NEED_BYTES = 512;

function minimalBase(base: WorkItemDetail): WorkItemDetail {
  const needs = base.needs
    .slice(0, MINIMUM_NEEDS)
    .map((need) => ({ ...need, text: cutToJsonSize(need.text, MINIMUM_NEED_BYTES) }));
  const acceptanceCriteria = base.contract.acceptanceCriteria.map(({ id }) => ({ id, text: '' }));
  return {
    ...base,
    contract: { ...base.contract, acceptanceCriteria },
    goalProgress: base.goalProgress === null ? null : countsOnly(base.goalProgress),
    coordinator: { ...base.coordinator, question: null },
    needs,
    omittedNeedCount: base.omittedNeedCount + base.needs.length - needs.length,
    unknownTurns: [],
    unknownOperations: [],
    finalResult: null,
  };
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
