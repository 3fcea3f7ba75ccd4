import type { MessagePage } from '@stint/contracts';
import type { ReactElement } from 'react';
import { formatAge } from './format.js';
import { RichText } from './rich-text.js';

const authors: Readonly<Record<string, string>> = { person: 'You', coordinator: 'Coordinator', system: 'Stint' };

/** What was said between the person and the Coordinator, oldest first. */
export function Conversation({ page, now }: { readonly page: MessagePage; readonly now: number }): ReactElement {
  return (
    <section className="card" aria-labelledby="conversation-title">
      <h2 id="conversation-title">Conversation</h2>
      {page.omittedMessageCount > 0 && <p className="quiet">{page.omittedMessageCount} older messages</p>}
      {page.messages.length === 0 && <p className="quiet">Nothing was said yet.</p>}
      <ol className="messages">
        {page.messages.map((message) => (
          <li key={message.id} className={`message message-${message.author}`}>
            <div className="quiet">
              {authors[message.author] ?? message.author}, {formatAge(message.createdAt, now)}
            </div>
            {message.state === 'thinking' ? <p className="quiet">thinking…</p> : <RichText text={message.text} />}
          </li>
        ))}
      </ol>
    </section>
  );
}
