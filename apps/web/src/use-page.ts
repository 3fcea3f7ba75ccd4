import { createContext, useContext, useEffect, useState, useSyncExternalStore } from 'react';
import type { PageState, PageStore } from './page-store.js';

/** The page's store, given once at the root. */
export const PageStoreContext = createContext<PageStore | null>(null);

/** @throws Error outside of `PageStoreContext`. */
export function usePageStore(): PageStore {
  const store = useContext(PageStoreContext);
  if (!store) throw new Error('usePageStore needs a PageStoreContext around it');
  return store;
}

/** The current snapshot; renders again when it changes. */
export function usePage(): PageState {
  const store = usePageStore();
  return useSyncExternalStore(store.subscribe, store.snapshot);
}

/** The time of now, moving every five seconds, for ages like "5 min ago". */
export function useNow(): number {
  const [now, setNow] = useState(() => Date.now());
  useEffect(() => {
    const timer = setInterval(() => setNow(Date.now()), 5_000);
    return () => clearInterval(timer);
  }, []);
  return now;
}
