import type { ServerResponse } from 'node:http';
import type { Fault } from './faults.js';
import { type Gates, pause } from './gates.js';
import { eventText, type Protocol, type Reply, type WirePiece } from './protocol.js';
import type { Answer } from './scenario.js';

/** What transmitting needs: the connection, the answer, and the signal that the client is gone. */
export interface Transmission {
  readonly response: ServerResponse;
  readonly protocol: Protocol;
  readonly reply: Reply;
  readonly answer: Answer;
  readonly fault: Fault | null;
  readonly stream: boolean;
  readonly gates: Gates;
  readonly signal: AbortSignal;
  /** Called just before the last write of a whole answer, so that whoever has the answer finds it in the log. */
  readonly beforeLast: () => void;
}

/** Writes an answer, with the faults that happen while it is written. True when the whole answer was handed over. */
export async function transmit(transmission: Transmission): Promise<boolean> {
  const { answer, fault, signal, response, stream } = transmission;
  await pause(answer.firstPieceDelayMs ?? 0, signal);
  if (signal.aborted) return false;
  response.writeHead(200, stream ? streamHeaders : { 'content-type': 'application/json' });
  response.flushHeaders();
  if (fault?.name === 'keep_alives_only') return keepAlive(transmission);
  if (fault?.name === 'empty_body') return endWithout(transmission);
  return stream ? writeStream(transmission) : writeWhole(transmission);
}

const streamHeaders = { 'content-type': 'text/event-stream; charset=utf-8', 'cache-control': 'no-cache' };

async function keepAlive({ response, fault, stream, signal }: Transmission): Promise<boolean> {
  while (!signal.aborted) {
    await write(response, stream ? ': keep-alive\n\n' : '\n', signal);
    await pause(fault?.delayMs ?? 50, signal);
  }
  return false;
}

async function writeWhole(transmission: Transmission): Promise<boolean> {
  const { answer, response, fault, protocol, reply, signal, gates } = transmission;
  for (const held of answer.pauseUntil ?? []) await gates.pass(held.gate, signal);
  if (signal.aborted) return false;
  const body = JSON.stringify({ ...protocol.wholeBody(reply), ...padding(fault) });
  const half = body.slice(0, Math.floor(body.length / 2));
  switch (fault?.name) {
    case 'stream_cut':
      return cutConnection(transmission, half);
    case 'stream_end_without_stop':
    case 'malformed_json':
      return endWithout(transmission, half);
    case 'server_error_after_bytes':
      return endWithout(transmission, half + JSON.stringify(protocol.errorBody(500, failure)));
    case 'slow_drip':
      return drip(transmission, body);
    default:
      transmission.beforeLast();
      return end(response, body, signal);
  }
}

async function writeStream(transmission: Transmission): Promise<boolean> {
  const { protocol, reply, fault, signal } = transmission;
  const pieces = protocol.pieces(reply);
  const part = pieces.slice(0, middle(pieces));
  switch (fault?.name) {
    case 'stream_cut':
      await writePieces(transmission, part);
      return cutConnection(transmission);
    case 'stream_end_without_stop':
      await writePieces(transmission, part);
      return endWithout(transmission);
    case 'server_error_after_bytes':
      await writePieces(transmission, [...part, protocol.errorPiece(failure)]);
      return endWithout(transmission);
    case 'malformed_json':
      await writePieces(transmission, [...part, malformed(part), ...pieces.slice(part.length)], true);
      break;
    case 'huge_chunk':
      await writePieces(transmission, padPiece(pieces, part.length, fault), true);
      break;
    case 'slow_drip':
      return drip(transmission, pieces.map(eventText).join(''));
    default:
      await writePieces(transmission, pieces, true);
  }
  return end(transmission.response, '', signal);
}

const failure = 'The simulator was told to fail here.';

async function writePieces(transmission: Transmission, pieces: readonly WirePiece[], whole = false): Promise<void> {
  const { response, answer, gates, signal } = transmission;
  for (const [index, piece] of pieces.entries()) {
    for (const held of answer.pauseUntil ?? []) if (held.afterPieces === index) await gates.pass(held.gate, signal);
    if (index > 0 && piece.kind === 'delta') await pause(answer.pieceDelayMs ?? 0, signal);
    if (signal.aborted) return;
    if (whole && index === pieces.length - 1) transmission.beforeLast();
    await write(response, eventText(piece), signal);
  }
}

/** The index just past the first half of the deltas: at least one delta is sent, and never the stop event. */
function middle(pieces: readonly WirePiece[]): number {
  const deltas = pieces.flatMap((piece, index) => (piece.kind === 'delta' ? [index] : []));
  const last = deltas[Math.floor((deltas.length - 1) / 2)];
  return last === undefined ? 1 : last + 1;
}

function malformed(before: readonly WirePiece[]): WirePiece {
  const model = before.at(-1) ?? { kind: 'delta', data: '{"broken":"' };
  return { ...model, kind: 'delta', data: model.data.slice(0, Math.ceil(model.data.length / 2)) };
}

function padPiece(pieces: readonly WirePiece[], end: number, fault: Fault): readonly WirePiece[] {
  return pieces.map((piece, index) =>
    index === end - 1 && piece.data.endsWith('}')
      ? { ...piece, data: JSON.stringify({ ...JSON.parse(piece.data), ...padding(fault) }) }
      : piece,
  );
}

/** A field no client knows, as OpenAI sends one of its own; it makes an event or a body large without changing it. */
function padding(fault: Fault | null): Readonly<Record<string, string>> {
  return fault?.name === 'huge_chunk' ? { obfuscation: 'x'.repeat(fault.bytes ?? 1_048_576) } : {};
}

async function drip({ response, fault, signal, beforeLast }: Transmission, body: string): Promise<boolean> {
  const bytes = Buffer.from(body, 'utf8');
  const size = Math.max(7, Math.ceil(bytes.length / 60));
  for (let at = 0; at < bytes.length && !signal.aborted; at += size) {
    if (at + size >= bytes.length) beforeLast();
    await write(response, bytes.subarray(at, at + size), signal);
    await pause(fault?.delayMs ?? 5, signal);
  }
  return end(response, '', signal);
}

async function cutConnection({ response, signal }: Transmission, last = ''): Promise<boolean> {
  if (last !== '') await write(response, last, signal);
  response.socket?.destroy();
  return false;
}

async function endWithout({ response, signal }: Transmission, last = ''): Promise<boolean> {
  await end(response, last, signal);
  return false;
}

async function write(response: ServerResponse, data: string | Uint8Array, signal: AbortSignal): Promise<void> {
  await untilGone(signal, (done) => response.write(data, done));
}

async function end(response: ServerResponse, last: string, signal: AbortSignal): Promise<boolean> {
  return await untilGone(signal, (done) => response.end(last, done));
}

/** True if the bytes were handed over; false when the client leaves first: what was written then is never acknowledged. */
function untilGone(signal: AbortSignal, act: (done: () => void) => void): Promise<boolean> {
  if (signal.aborted) return Promise.resolve(false);
  return new Promise((resolve) => {
    const settle = (handedOver: boolean): void => {
      signal.removeEventListener('abort', leave);
      resolve(handedOver);
    };
    const leave = (): void => settle(false);
    signal.addEventListener('abort', leave, { once: true });
    act(() => settle(!signal.aborted));
  });
}
