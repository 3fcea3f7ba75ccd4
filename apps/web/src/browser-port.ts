import type { ConnectionPort } from './connection.js';

const sessionPath = '/session';

/** The browser as the connection sees it. */
export const browserPort: ConnectionPort = {
  open: ({ onOpen, onText, onClose }) => {
    const socket = new WebSocket(`${location.protocol === 'https:' ? 'wss' : 'ws'}://${location.host}/ws`);
    socket.addEventListener('open', onOpen);
    socket.addEventListener('message', ({ data }) => onText(String(data)));
    socket.addEventListener('close', onClose);
    return socket;
  },
  signedIn: async () => (await fetch(sessionPath)).ok,
  setTimer: (callback, delayMs) => {
    const timer = setTimeout(callback, delayMs);
    return () => clearTimeout(timer);
  },
  now: () => Date.now(),
};

/**
 * Trades the one-time ticket in the address for a session cookie, and takes it out of the address and the history.
 * @returns false when there is no session to go on with.
 */
export async function signIn(): Promise<boolean> {
  const ticket = new URLSearchParams(location.hash.slice(1)).get('ticket');
  if (ticket === null) return browserPort.signedIn();
  history.replaceState(null, '', location.pathname + location.search);
  const answer = await fetch(sessionPath, {
    method: 'POST',
    headers: { 'content-type': 'application/json' },
    body: JSON.stringify({ ticket }),
  });
  return answer.ok || browserPort.signedIn();
}
