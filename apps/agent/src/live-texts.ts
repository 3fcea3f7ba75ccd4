import type { RunProgress } from '@stint/coordinator';
import { cutToBytes, DTO_LIMITS, utf8Length } from '@stint/contracts';

/** What one Action does this moment. */
export interface LiveAction {
  readonly itemId: string;
  readonly actionId: string;
  readonly runId: string;
  /** One line: what runs. */
  readonly activity: string;
  /** The end of what the model wrote in this turn, not redacted. */
  readonly text: string;
}

/** The live state after one more event of the loop. */
export function followLive(
  before: LiveAction | undefined,
  { itemId, actionId, runId, event }: RunProgress,
): LiveAction {
  const live = before ?? { itemId, actionId, runId, activity: '', text: '' };
  switch (event.type) {
    case 'turn-start':
      return { ...live, runId, activity: `asking ${event.model}`, text: '' };
    case 'text-delta':
      return { ...live, runId, text: lastOf(live.text + event.delta) };
    case 'tool-call-start':
      return { ...live, runId, activity: `running ${event.call.tool}` };
    case 'tool-call-end':
      return { ...live, runId, activity: `${event.call.tool} ${event.result.ok ? 'done' : 'failed'}` };
    case 'retry':
      return { ...live, runId, activity: `trying again in ${Math.ceil(event.delayMs / 1000)} s` };
    case 'run-end':
      return { ...live, runId, activity: 'ended' };
    default:
      return live;
  }
}

/** How much of a turn's text is kept: enough that what is shown of its end was seen whole by the redaction, as no secret is longer than the rest. */
const keptCharacters = 16_384;

/** The end of a text, from a whole character on. */
const lastOf = (text: string): string => text.slice(-keptCharacters).replace(/^[\udc00-\udfff]/, '');

/** The end of a redacted text that a frame may carry, from the beginning of a word on. Cutting comes after redacting: half a secret is not recognised. */
export function shownTail(redacted: string): string {
  const over = utf8Length(redacted) - DTO_LIMITS.maxLiveTextBytes;
  if (over <= 0) return redacted;
  const tail = redacted.slice(over);
  const word = tail.search(/\s/);
  return word < 0 ? '' : cutToBytes(tail.slice(word + 1), DTO_LIMITS.maxLiveTextBytes);
}
