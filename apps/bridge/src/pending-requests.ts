import { randomUUID } from 'node:crypto';
import { isOperationName, operations, type ResponseFrame, type WireError } from '@stint/contracts';

/** How a request ended: what the agent said, or why nobody said anything. */
export type Reply = { readonly ok: true; readonly result: unknown } | { readonly ok: false; readonly error: WireError };

interface Pending {
  readonly agentId: string;
  readonly operation: string;
  readonly answer: (reply: Reply) => void;
  readonly timer: NodeJS.Timeout;
}

/**
 * Requests on their way to agents.
 *
 * 1. Each is answered exactly once: by the agent, by its timeout, or because the agent went away.
 * 2. The id an agent sees is random; it says nothing of the asker and is good for one answer of that agent alone.
 */
export class PendingRequests {
  readonly #timeoutMs: number;
  readonly #pending = new Map<string, Pending>();

  constructor(timeoutMs: number) {
    this.#timeoutMs = timeoutMs;
  }

  get size(): number {
    return this.#pending.size;
  }

  /** @returns the opaque id to send to the agent. */
  open(agentId: string, operation: string, answer: (reply: Reply) => void): string {
    const id = randomUUID();
    const timer = setTimeout(() => this.#end(id, refuse(timeoutError(operation, this.#timeoutMs))), this.#timeoutMs);
    timer.unref();
    this.#pending.set(id, { agentId, operation, answer, timer });
    return id;
  }

  /** Takes an agent's answer. An answer nobody waits for, or to another agent's request, is dropped. @returns whether it was taken */
  settle(agentId: string, response: ResponseFrame): boolean {
    if (this.#pending.get(response.id)?.agentId !== agentId) return false;
    this.#end(response.id, response.ok ? { ok: true, result: response.result } : { ok: false, error: response.error });
    return true;
  }

  /** Answers everything this agent will no longer answer. */
  loseAgent(agentId: string): void {
    for (const [id, pending] of this.#pending) {
      if (pending.agentId === agentId) this.#end(id, refuse(lostError(pending.operation)));
    }
  }

  #end(id: string, reply: Reply): void {
    const pending = this.#pending.get(id);
    if (pending === undefined) return;
    this.#pending.delete(id);
    clearTimeout(pending.timer);
    pending.answer(reply);
  }
}

function refuse(error: WireError): Reply {
  return { ok: false, error };
}

function timeoutError(operation: string, timeoutMs: number): WireError {
  const message = `The agent did not answer ${operation} within ${timeoutMs} ms. ${whatNow(operation)}`;
  return { code: 'timeout', message, retryable: isQuery(operation) };
}

function lostError(operation: string): WireError {
  const message = `The agent went away before it answered ${operation}. ${whatNow(operation)}`;
  return { code: 'agent_lost', message, retryable: isQuery(operation) };
}

function whatNow(operation: string): string {
  return isQuery(operation) ? 'Ask again.' : 'It may or may not be done: look at the item before you do it again.';
}

function isQuery(operation: string): boolean {
  return isOperationName(operation) && operations[operation].role === 'query';
}
