/** Which limit of a request ran out. */
export type LimitName = 'idle' | 'total';

/**
 * Measures silence and total time of one request with a single timer. Silence counts only while an answer is awaited:
 * a consumer that takes its time between two parts does not make the provider late.
 */
export class Watchdog {
  readonly #idleLimitMs: number;
  readonly #totalLimitMs: number;
  readonly #onLimit: (limit: LimitName, ms: number) => void;
  readonly #startedAt = performance.now();
  #silentSince = performance.now();
  #isWaiting = false;
  #timer: NodeJS.Timeout | undefined;

  constructor(idleLimitMs: number, totalLimitMs: number, onLimit: (limit: LimitName, ms: number) => void) {
    this.#idleLimitMs = idleLimitMs;
    this.#totalLimitMs = totalLimitMs;
    this.#onLimit = onLimit;
    this.#arm(Math.min(idleLimitMs, totalLimitMs));
  }

  /** Something is awaited of the provider: silence counts from here. */
  waiting(): void {
    if (this.#isWaiting) return;
    this.#isWaiting = true;
    this.#silentSince = performance.now();
  }

  /** A real event came and is handed on. */
  heard(): void {
    this.#isWaiting = false;
  }

  stop(): void {
    clearTimeout(this.#timer);
  }

  #arm(delayMs: number): void {
    // A timer beyond 2^31 - 1 ms would fire at once.
    this.#timer = setTimeout(() => this.#check(), Math.min(Math.max(1, Math.ceil(delayMs)), 2_147_483_647));
  }

  #check(): void {
    const now = performance.now();
    const totalLeftMs = this.#startedAt + this.#totalLimitMs - now;
    if (totalLeftMs <= 0) return this.#onLimit('total', this.#totalLimitMs);
    const idleLeftMs = this.#isWaiting ? this.#silentSince + this.#idleLimitMs - now : this.#idleLimitMs;
    if (idleLeftMs <= 0) return this.#onLimit('idle', this.#idleLimitMs);
    this.#arm(Math.min(totalLeftMs, idleLeftMs));
  }
}
