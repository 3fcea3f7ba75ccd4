import { hashSecret, matchesSecret, randomSecret, type SecretHash } from './secret-hash.js';

interface Entry {
  readonly hash: SecretHash;
  readonly expiresAt: number;
}

export interface SecretBookOptions {
  readonly lifetimeMs: number;
  /** Most secrets that are good at once; the oldest makes room. */
  readonly maximum: number;
  readonly now: () => number;
}

/**
 * Secrets handed out and good for a while: one-time tickets and browser sessions. Only hashes are kept.
 *
 * 1. A secret is good until it expires, is spent, is revoked, or makes room for a newer one.
 * 2. Spending takes it out: of two who bring the same ticket, one gets in.
 */
export class SecretBook {
  readonly #options: SecretBookOptions;
  #entries: Entry[] = [];

  constructor(options: SecretBookOptions) {
    this.#options = options;
  }

  /** @returns a new secret; it is not kept and cannot be asked for again. */
  issue(): string {
    const secret = randomSecret();
    this.#forgetExpired();
    this.#entries = [
      ...this.#entries.slice(1 - this.#options.maximum),
      { hash: hashSecret(secret), expiresAt: this.#options.now() + this.#options.lifetimeMs },
    ];
    return secret;
  }

  has(secret: string): boolean {
    this.#forgetExpired();
    return this.#find(secret) !== undefined;
  }

  /** Takes the secret out. @returns whether it was good. */
  spend(secret: string): boolean {
    this.#forgetExpired();
    const entry = this.#find(secret);
    this.#entries = this.#entries.filter((one) => one !== entry);
    return entry !== undefined;
  }

  /** Looks at every entry, found or not, so that the time tells nothing. */
  #find(secret: string): Entry | undefined {
    return this.#entries.filter(({ hash }) => matchesSecret(secret, hash)).at(0);
  }

  #forgetExpired(): void {
    const now = this.#options.now();
    this.#entries = this.#entries.filter(({ expiresAt }) => expiresAt > now);
  }
}
