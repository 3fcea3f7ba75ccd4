import type { ReactElement } from 'react';
import Markdown from 'react-markdown';
import { visibleControls } from './visible-controls.js';

/**
 * Text of a model or a tool as markdown. Raw HTML in it is shown as text, links keep only safe schemes and open elsewhere without a referrer,
 * and pictures are not loaded (they could carry what was read to a stranger).
 */
export function RichText({ text }: { readonly text: string }): ReactElement {
  return (
    <div className="rich-text">
      <Markdown
        components={{
          a: ({ href, children }) => (
            <a href={href} target="_blank" rel="noopener noreferrer">
              {children}
            </a>
          ),
          img: ({ alt }) => <span className="quiet">[picture: {alt || 'no description'}]</span>,
        }}
      >
        {visibleControls(text)}
      </Markdown>
    </div>
  );
}
