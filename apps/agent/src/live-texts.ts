import type { RunProgress } from '@stint/coordinator';
import { cutToBytes, DTO_LIMITS, utf8Length } from '@stint/contracts';

/** What one Action does this moment. */
export interface LiveAction {
  readonly itemId: string;
  readonly actionId: string;
  readonly runId: string;
  /** One line: what runs. */
  readonly activity: string;
  /** The end of what the model wrote in this turn. */
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
      return { ...live, runId, text: tailOf(live.text + event.delta) };
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

/** The last bytes of a text, from a whole character on. */
function tailOf(text: string): string {
  const over = utf8Length(text) - DTO_LIMITS.maxLiveTextBytes;
  return over <= 0 ? text : cutToBytes(text.slice(over).replace(/^[\udc00-\udfff]/, ''), DTO_LIMITS.maxLiveTextBytes);
}
