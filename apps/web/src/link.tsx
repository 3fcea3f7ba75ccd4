import type { MouseEvent, ReactElement, ReactNode } from 'react';
import { addressOf, navigate, type Route } from './router.js';

interface LinkProps {
  readonly to: Route;
  readonly className?: string;
  readonly children: ReactNode;
}

/** A real link that moves without loading the page anew; with a modifier key the browser does what it always does. */
export function Link({ to, className, children }: LinkProps): ReactElement {
  const follow = (event: MouseEvent): void => {
    if (event.metaKey || event.ctrlKey || event.shiftKey || event.button !== 0) return;
    event.preventDefault();
    navigate(to);
  };
  return (
    <a href={addressOf(to)} className={className} onClick={follow}>
      {children}
    </a>
  );
}
