import { LedgerError } from './errors.js';
import type { Actor } from './types.js';

/**
 * Only a person may do this. The ledger believes the actor it is told; whoever exposes these calls makes sure that no model and no tool
 * reaches them.
 * @throws LedgerError `person_required`
 */
export function requirePerson(actor: Actor, what: string): void {
  checkActor(actor);
  if (actor.kind === 'person') return;
  throw new LedgerError('person_required', `Only a person may ${what}; the actor is ${actor.kind} '${actor.id}'.`, {
    details: { actor },
  });
}

/** @throws LedgerError `person_required` for system actors */
export function requirePersonOrImport(actor: Actor, what: string): void {
  if (actor?.kind !== 'import') requirePerson(actor, what);
  else checkActor(actor);
}

function checkActor(actor: Actor): void {
  const isKnown = actor?.kind === 'person' || actor?.kind === 'import' || actor?.kind === 'system';
  if (isKnown && typeof actor.id === 'string' && actor.id.length > 0) return;
  throw new LedgerError('invalid_actor', "An actor is { kind: 'person' | 'import' | 'system', id: a text }.");
}
