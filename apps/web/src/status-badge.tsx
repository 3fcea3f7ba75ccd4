import type { ReactElement } from 'react';
import { formatStatus } from './format.js';

/** A status in words and colour. */
export function StatusBadge({ status }: { readonly status: string }): ReactElement {
  return (
    <span className={`badge badge-${status}`} data-status={status}>
      {formatStatus(status)}
    </span>
  );
}
