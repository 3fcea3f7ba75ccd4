/** Reads the usage, the model and the end of a raw answer while its bytes pass by unchanged. */
import { mergeRawUsage, rawUsageObject, type Usage, usageOfRaw } from '@stint/provider-hooks';

type Fields = Readonly<Record<string, unknown>>;

/** Events after which nothing follows: Anthropic's, and those of OpenAI's responses. */
const endTypes: ReadonlySet<unknown> = new Set(['message_stop', 'response.completed', 'response.incomplete']);

/** What is known of an answer so far. */
export interface RawAnswer {
  /** The stop event was seen, or the whole body was. */
  readonly complete: boolean;
  readonly usage: Usage | null;
  readonly model: string | undefined;
  /** By which a later request can continue it. */
  readonly id: string | undefined;
}

/** Collects the events of a stream. Usage reports are cumulative: a later figure replaces an earlier one. */
export class RawAnswerReader {
  readonly #decoder = new TextDecoder();
  #line = '';
  #usage: Fields | undefined;
  #model: string | undefined;
  #id: string | undefined;
  #complete = false;

  /** Reads a piece of an event stream. */
  read(chunk: Uint8Array): void {
    const lines = (this.#line + this.#decoder.decode(chunk, { stream: true })).split('\n');
    this.#line = lines.pop() ?? '';
    for (const line of lines) this.#readLine(line);
  }

  /** Reads a whole body. */
  readBody(text: string): void {
    const body = parseFields(text);
    if (body === undefined) return;
    this.#readFields(body);
    this.#complete = true;
  }

  end(): RawAnswer {
    if (this.#line !== '') this.#readLine(this.#line);
    return { complete: this.#complete, usage: usageOfRaw(this.#usage), model: this.#model, id: this.#id };
  }

  #readLine(line: string): void {
    if (!line.startsWith('data:')) return;
    const data = line.slice('data:'.length).trim();
    if (data === '[DONE]') this.#complete = true;
    const event = data.startsWith('{') ? parseFields(data) : undefined;
    if (event !== undefined) this.#readFields(event);
  }

  #readFields(event: Fields): void {
    const inner = fieldsOf(event.message) ?? fieldsOf(event.response) ?? event;
    const usage = rawUsageObject(event);
    if (usage !== undefined) this.#usage = mergeRawUsage(this.#usage, usage);
    const model = inner.model ?? inner.modelVersion;
    const id = inner.id ?? inner.responseId;
    if (typeof model === 'string') this.#model = model;
    if (typeof id === 'string') this.#id = id;
    if (endTypes.has(event.type) || isGooglesLast(event)) this.#complete = true;
  }
}

/** Google's last event has no name: each of its candidates tells why it ended. */
function isGooglesLast({ candidates, usageMetadata }: Fields): boolean {
  const ended = Array.isArray(candidates) && candidates.every((each) => fieldsOf(each)?.finishReason !== undefined);
  return ended && usageMetadata !== undefined;
}

function parseFields(text: string): Fields | undefined {
  try {
    return fieldsOf(JSON.parse(text));
  } catch {
    // An event that is no JSON tells nothing about usage; the caller gets its bytes all the same.
    return undefined;
  }
}

function fieldsOf(value: unknown): Fields | undefined {
  return typeof value === 'object' && value !== null && !Array.isArray(value) ? (value as Fields) : undefined;
}
