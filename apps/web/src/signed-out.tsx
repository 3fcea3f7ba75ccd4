import type { ReactElement } from 'react';

/** What someone sees who has no session: how to get one. */
export function SignedOut(): ReactElement {
  return (
    <main className="center">
      <h1>Stint</h1>
      <p>This page is not signed in. Its address works once and for a short time.</p>
      <p>
        Open the address that <code>stint local</code> prints, or start it again for a new one.
      </p>
    </main>
  );
}
