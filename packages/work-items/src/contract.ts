import { invalidField } from './errors.js';
import { defaultMaxAttempts, workItemLimits as limits } from './limits.js';
import type { Attachment, Criterion, DeliveryTarget, OnUnknownRequest } from './records.js';
import { boundedText } from './text.js';

/** What a person asks for. Checked by {@link checkContract} when it is written. */
export interface ContractInput {
  /** @default the first line of the goal, cut to 200 bytes */
  readonly title?: string;
  readonly goal: string;
  /** One text per criterion; ids `c1`, `c2`, ... are given. @default none */
  readonly acceptanceCriteria?: readonly string[];
  /** Null: the Coordinator asks before anything is delivered; only a person sets it. @default null */
  readonly deliveryTarget?: DeliveryTarget | null;
  /** Canonical real path, resolved by the caller on the machine that owns it. @default null */
  readonly workDir?: string | null;
  /** `<machine>:<real path>`; required with a `workDir`. @default null */
  readonly workspaceKey?: string | null;
  /** `provider:name`. @default null */
  readonly model?: string | null;
  readonly attachments?: readonly Attachment[];
  readonly originSessionId?: string | null;
  /** What happens to a request whose end nobody knows, after a crash. @default 'ask' */
  readonly onUnknownRequest?: OnUnknownRequest;
  /** Attempts of an Action. @default 3 */
  readonly maxAttempts?: number;
}

export interface CheckedContract {
  readonly title: string;
  readonly goal: string;
  readonly acceptanceCriteria: readonly Criterion[];
  readonly deliveryTarget: DeliveryTarget | null;
  readonly workDir: string | null;
  readonly workspaceKey: string | null;
  readonly model: string | null;
  readonly attachments: readonly Attachment[];
  readonly originSessionId: string | null;
  readonly onUnknownRequest: OnUnknownRequest;
  readonly maxAttempts: number;
}

/** The contract with its defaults. Throws `invalid_field` naming the field, the size and the bound. */
export function checkContract(input: ContractInput): CheckedContract {
  const workDir = input.workDir ?? null;
  const workspaceKey = input.workspaceKey ?? null;
  if ((workDir === null) !== (workspaceKey === null)) {
    throw invalidField('workspaceKey', 'goes together with workDir; give both or neither');
  }
  const goal = boundedText('goal', input.goal, limits.goalBytes);
  return {
    title: boundedText('title', input.title ?? titleOf(goal), limits.titleBytes),
    goal,
    acceptanceCriteria: numberCriteria(input.acceptanceCriteria ?? []),
    deliveryTarget: input.deliveryTarget ?? null,
    workDir: workDir === null ? null : boundedText('workDir', workDir, limits.workDirBytes),
    workspaceKey,
    model: optionalText('model', input.model ?? null, limits.modelBytes),
    attachments: checkAttachments(input.attachments ?? []),
    originSessionId: optionalText('originSessionId', input.originSessionId ?? null, limits.idBytes),
    onUnknownRequest: input.onUnknownRequest ?? 'ask',
    maxAttempts: checkMaxAttempts(input.maxAttempts ?? defaultMaxAttempts),
  };
}

function titleOf(goal: string): string {
  const line = goal.trim().split('\n', 1)[0] ?? '';
  return cutTitle(line);
}

function cutTitle(line: string): string {
  let title = '';
  let size = 0;
  for (const character of line) {
    size += new TextEncoder().encode(character).length;
    if (size > limits.titleBytes) return title;
    title += character;
  }
  return title;
}

/** Criteria with ids by position. Throws `invalid_field` for more than 24, for an empty and for a too long one. */
export function numberCriteria(texts: readonly string[]): readonly Criterion[] {
  if (texts.length > limits.criteriaCount) {
    throw invalidField('acceptanceCriteria', `has ${texts.length} entries; at most ${limits.criteriaCount} are kept`);
  }
  return texts.map((text, index) => ({
    id: `c${index + 1}`,
    text: boundedText(`acceptanceCriteria[${index}]`, text, limits.criterionBytes),
  }));
}

function optionalText(field: string, text: string | null, maxBytes: number): string | null {
  return text === null ? null : boundedText(field, text, maxBytes);
}

function checkMaxAttempts(value: number): number {
  if (Number.isInteger(value) && value >= 1 && value <= 100) return value;
  throw invalidField('maxAttempts', `is ${value}; give an integer from 1 to 100`);
}

function checkAttachments(attachments: readonly Attachment[]): readonly Attachment[] {
  if (attachments.length > limits.attachmentCount) {
    throw invalidField('attachments', `has ${attachments.length} entries; at most ${limits.attachmentCount} are kept`);
  }
  let total = 0;
  for (const [index, attachment] of attachments.entries()) {
    if (!Number.isSafeInteger(attachment.sizeBytes) || attachment.sizeBytes < 0) {
      throw invalidField(`attachments[${index}].sizeBytes`, `is ${attachment.sizeBytes}; give a size in bytes`);
    }
    if (attachment.sizeBytes > limits.attachmentBytes) {
      throw invalidField(
        `attachments[${index}]`,
        `is ${attachment.sizeBytes} bytes; at most ${limits.attachmentBytes}`,
      );
    }
    total += attachment.sizeBytes;
  }
  if (total > limits.attachmentTotalBytes) {
    throw invalidField('attachments', `are ${total} bytes together; at most ${limits.attachmentTotalBytes}`);
  }
  return attachments;
}
