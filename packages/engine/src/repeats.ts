/** Calls that are looked back on for identical ones. */
const windowLength = 12;
/** Longest cycle of calls that is recognised: A, A B, ... A B C D E F. */
const longestCycle = 6;
/** Cycles longer than this are a loop only when they were gone through three times. */
const shortCycle = 3;

interface SeenCall {
  readonly exact: string;
  readonly alike: string;
}

/**
 * Notices a model that goes in circles.
 *
 * - Identical: same tool, same arguments. The third in a short window is worth a reminder.
 * - Alike: the same but for values that change by themselves (times, unique ids; for failing calls any number), with
 *   the same result. Bulk work over numbered things is not alike while it succeeds.
 * - A row of calls that repeats with a cycle of one to six is a loop; its length is what `maxRepeats` bounds.
 */
export class RepeatWatch {
  readonly #maxRepeats: number;
  #calls: SeenCall[] = [];
  #reminders: string[] = [];

  constructor(maxRepeats: number) {
    this.#maxRepeats = maxRepeats;
  }

  add(tool: string, input: unknown, result: { readonly ok: boolean; readonly output: string }): void {
    const exact = `${tool} ${stableJson(input)}`;
    const alike = shapeOf(`${exact} -> ${result.output}`, !result.ok);
    this.#calls.push({ exact, alike });
    const kept = Math.max(windowLength, this.#maxRepeats, 3 * longestCycle);
    if (this.#calls.length > 2 * kept) this.#calls = this.#calls.slice(-kept);
    const same = this.#calls.slice(-windowLength).filter((call) => call.exact === exact).length;
    if (same % 3 === 0) this.#reminders.push(tool);
  }

  /** Tools that were just called for the third time alike; each is told once. */
  takeReminders(): readonly string[] {
    const reminders = [...new Set(this.#reminders)];
    this.#reminders = [];
    return reminders;
  }

  /** The number of calls in the loop at the end, if it has reached the bound; else null. */
  get loopLength(): number | null {
    for (let cycle = 1; cycle <= longestCycle; cycle += 1) {
      const length = Math.max(this.#rowLength(cycle, 'exact'), this.#rowLength(cycle, 'alike'));
      const least = cycle > shortCycle ? Math.max(this.#maxRepeats, 3 * cycle) : this.#maxRepeats;
      if (length >= least) return length;
    }
    return null;
  }

  /** Calls at the end of which each equals the one `cycle` before it, those first ones among them. */
  #rowLength(cycle: number, by: keyof SeenCall): number {
    const calls = this.#calls;
    let start = calls.length - 1;
    while (start - cycle >= 0 && calls[start]?.[by] === calls[start - cycle]?.[by]) start -= 1;
    return calls.length - 1 - start === 0 ? 0 : calls.length - 1 - start + cycle;
  }
}

const dateTime = /\d{4}-\d\d-\d\d[T ]\d\d:\d\d(:\d\d(\.\d+)?)?(Z|[+-]\d\d:?\d\d)?/g;
const uniqueId = /[0-9a-f]{8}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{12}|\b[0-9a-f]{16,}\b/gi;
const epochTime = /\b1\d{9}(\d{3})?(\.\d+)?\b/g;
const anyNumber = /\d+(\.\d+)?/g;

function shapeOf(text: string, failed: boolean): string {
  const shape = text.replace(dateTime, '#').replace(uniqueId, '#').replace(epochTime, '#');
  return failed ? shape.replace(anyNumber, '#') : shape;
}

/** JSON with sorted keys: the order of arguments makes no other call. */
function stableJson(value: unknown): string {
  return JSON.stringify(isSorted(value) ? value : sorted(value));
}

function isSorted(value: unknown): boolean {
  if (typeof value !== 'object' || value === null) return true;
  if (Array.isArray(value)) return value.every(isSorted);
  let last = '';
  for (const key in value) {
    if (key < last || !isSorted((value as Record<string, unknown>)[key])) return false;
    last = key;
  }
  return true;
}

function sorted(value: unknown): unknown {
  if (typeof value !== 'object' || value === null) return value;
  if (Array.isArray(value)) return value.map(sorted);
  const fields = Object.entries(value).sort(([a], [b]) => (a < b ? -1 : 1));
  return Object.fromEntries(fields.map(([key, field]) => [key, sorted(field)]));
}
