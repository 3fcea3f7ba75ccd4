import { WebSocket } from 'ws';

/**
 * Watches one socket: pings it every interval and ends it when nothing was heard for two, which is how a peer that vanished without closing is noticed.
 * @returns a function that stops watching.
 */
export function watchLiveness(socket: WebSocket, heartbeatMs: number, onInterval: () => void): () => void {
  let silentIntervals = 0;
  const heard = (): void => {
    silentIntervals = 0;
  };
  const timer = setInterval(() => {
    silentIntervals += 1;
    if (silentIntervals >= 2) {
      socket.terminate();
      return;
    }
    if (socket.readyState !== WebSocket.OPEN) return;
    socket.ping();
    onInterval();
  }, heartbeatMs);
  timer.unref();
  socket.on('pong', heard);
  socket.on('message', heard);
  return () => clearInterval(timer);
}

/** Runs once a peer had its time to introduce itself. @returns a function that stops waiting. */
export function awaitHello(helloTimeoutMs: number, onTime: () => void): () => void {
  const timer = setTimeout(onTime, helloTimeoutMs);
  timer.unref();
  return () => clearTimeout(timer);
}

const GOODBYE_MS = 2_000;

/** Closes a socket with a reason; a peer that does not answer the goodbye is cut off. */
export function endSocket(socket: WebSocket, code: number, reason: string): void {
  socket.close(code, reason);
  const cutOff = setTimeout(() => socket.terminate(), GOODBYE_MS);
  cutOff.unref();
  socket.once('close', () => clearTimeout(cutOff));
}
