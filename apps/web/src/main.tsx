import { StrictMode } from 'react';
import { createRoot } from 'react-dom/client';
import { App } from './app.js';
import { browserPort, signIn } from './browser-port.js';
import { PageStore } from './page-store.js';
import { SignedOut } from './signed-out.js';
import { PageStoreContext } from './use-page.js';
import './styles.css';

const place = document.getElementById('root');
if (!place) throw new Error('index.html has no element with id "root"');
const root = createRoot(place);

function show(signedIn: boolean): void {
  if (!signedIn) {
    root.render(<SignedOut />);
    return;
  }
  const store = new PageStore(browserPort);
  root.render(
    <StrictMode>
      <PageStoreContext value={store}>
        <App />
      </PageStoreContext>
    </StrictMode>,
  );
}

signIn().then(show, () => show(false));
