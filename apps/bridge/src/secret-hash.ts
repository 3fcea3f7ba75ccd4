import { createHash, randomBytes, timingSafeEqual } from 'node:crypto';

/** A secret as the bridge keeps it: its hash, so that memory and dumps do not hold the secret itself. */
export type SecretHash = Buffer;

/** 256 random bits as text that fits in an address or a cookie. */
export function randomSecret(): string {
  return randomBytes(32).toString('base64url');
}

export function hashSecret(secret: string): SecretHash {
  return createHash('sha256').update(secret).digest();
}

/** Compares in a time that does not tell how much was right: both sides are hashes of one length. */
export function matchesSecret(candidate: string, hash: SecretHash): boolean {
  return timingSafeEqual(hashSecret(candidate), hash);
}
