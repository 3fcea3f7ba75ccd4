import { useSyncExternalStore } from 'react';

/** Where the page is. Search and filters live in the address, so that a link shows what its sender saw. */
export type Route =
  | { readonly page: 'board'; readonly search: string; readonly lane: string | null }
  | { readonly page: 'new' }
  | { readonly page: 'item'; readonly itemId: string; readonly action: string | null };

/** The route of an address; whatever is not known leads to the board. */
export function routeOf(pathname: string, query: string): Route {
  const parameters = new URLSearchParams(query);
  const item = /^\/items\/([\w-]+)$/.exec(pathname);
  if (item?.[1]) return { page: 'item', itemId: item[1], action: parameters.get('action') };
  if (pathname === '/new') return { page: 'new' };
  return { page: 'board', search: parameters.get('search') ?? '', lane: parameters.get('lane') };
}

/** The address of a route; `routeOf` reads it back. */
export function addressOf(route: Route): string {
  if (route.page === 'new') return '/new';
  const parameters = new URLSearchParams();
  if (route.page === 'item') {
    if (route.action) parameters.set('action', route.action);
    return withQuery(`/items/${route.itemId}`, parameters);
  }
  if (route.search) parameters.set('search', route.search);
  if (route.lane) parameters.set('lane', route.lane);
  return withQuery('/', parameters);
}

const withQuery = (path: string, parameters: URLSearchParams): string => {
  const query = parameters.toString();
  return query ? `${path}?${query}` : path;
};

const moved = 'stint:moved';

/** Goes to a route; `replace` keeps typing in a filter out of the history. */
export function navigate(route: Route, options: { readonly replace?: boolean } = {}): void {
  const address = addressOf(route);
  if (options.replace) history.replaceState(null, '', address);
  else history.pushState(null, '', address);
  window.dispatchEvent(new Event(moved));
}

function subscribe(listener: () => void): () => void {
  window.addEventListener('popstate', listener);
  window.addEventListener(moved, listener);
  return () => {
    window.removeEventListener('popstate', listener);
    window.removeEventListener(moved, listener);
  };
}

/** The current route; renders again when it moves. */
export function useRoute(): Route {
  const address = useSyncExternalStore(subscribe, () => location.pathname + location.search);
  const [pathname = '/', query = ''] = address.split('?', 2);
  return routeOf(pathname, query);
}
