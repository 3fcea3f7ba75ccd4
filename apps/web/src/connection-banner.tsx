import type { ReactElement } from 'react';
import { usePage } from './use-page.js';

/** Says at once when what is shown may be old, and why. */
export function ConnectionBanner(): ReactElement | null {
  const { connection, agents, trouble } = usePage();
  const text = bannerText(connection, agents.length > 0 && agents.every(({ online }) => !online), trouble);
  return text === null ? null : (
    <p className="banner" role="status">
      {text}
    </p>
  );
}

/** One line for the most important trouble; null when all is well. */
export function bannerText(connection: string, agentOffline: boolean, trouble: string | null): string | null {
  if (connection === 'lost') return 'Connection lost. What you see may be old; connecting again…';
  if (connection === 'connecting') return 'Connecting…';
  if (agentOffline) return 'The agent is offline. Nothing is running, and commands wait until it is back.';
  return trouble;
}
