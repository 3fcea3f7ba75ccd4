import { type ReactElement, useEffect } from 'react';
import { Board } from './board.js';
import { ConnectionBanner } from './connection-banner.js';
import { ItemPage } from './item-page.js';
import { Link } from './link.js';
import { NewItem } from './new-item.js';
import { useRoute } from './router.js';
import { SignedOut } from './signed-out.js';
import { usePage, usePageStore } from './use-page.js';

/** The frame around every page, and which page it is. */
export function App(): ReactElement {
  const route = useRoute();
  const store = usePageStore();
  const { connection } = usePage();
  const itemId = route.page === 'item' ? route.itemId : null;
  useEffect(() => store.open(itemId), [store, itemId]);
  if (connection === 'refused') return <SignedOut />;
  return (
    <>
      <header className="top">
        <Link to={{ page: 'board', search: '', lane: null }} className="brand">
          Stint
        </Link>
        <AgentState />
        <Link to={{ page: 'new' }} className="button primary">
          New work item
        </Link>
      </header>
      <ConnectionBanner />
      <main>
        {route.page === 'board' && <Board search={route.search} lane={route.lane} />}
        {route.page === 'new' && <NewItem />}
        {route.page === 'item' && <ItemPage itemId={route.itemId} selected={route.action} />}
      </main>
    </>
  );
}

function AgentState(): ReactElement {
  const { agents } = usePage();
  return (
    <ul className="agents" aria-label="agents">
      {agents.map((agent) => (
        <li key={agent.id}>
          <span className={`dot ${agent.online ? 'dot-online' : 'dot-offline'}`} />
          {agent.name} {agent.online ? 'online' : 'offline'}
        </li>
      ))}
    </ul>
  );
}
