import type { DirectoryListing } from '@stint/contracts';
import { type ReactElement, useState } from 'react';
import { usePageStore } from './use-page.js';

interface DirectoryPickerProps {
  /** The chosen path; '' = none. */
  readonly value: string;
  readonly onChange: (path: string) => void;
}

/** Chooses the directory to work in, by typing or by walking the agent's file system. */
export function DirectoryPicker({ value, onChange }: DirectoryPickerProps): ReactElement {
  const store = usePageStore();
  const [listing, setListing] = useState<DirectoryListing | null>(null);
  const [problem, setProblem] = useState<string | null>(null);
  const list = async (path: string | null): Promise<void> => {
    try {
      setListing(await store.ask('list_directories', { path }));
      setProblem(null);
    } catch (error) {
      setProblem(error instanceof Error ? error.message : String(error));
    }
  };
  return (
    <div className="stack">
      <label>
        Directory to work in (optional)
        <span className="row">
          <input value={value} placeholder="none" onChange={(event) => onChange(event.target.value)} />
          <button
            type="button"
            className="button"
            onClick={() => void (listing ? setListing(null) : list(value || null))}
          >
            {listing ? 'Close' : 'Browse…'}
          </button>
        </span>
      </label>
      {problem && <p className="problem">{problem}</p>}
      {listing && (
        <Listing
          listing={listing}
          onGo={(path) => void list(path)}
          onChoose={onChange}
          onClose={() => setListing(null)}
        />
      )}
    </div>
  );
}

interface ListingProps {
  readonly listing: DirectoryListing;
  readonly onGo: (path: string) => void;
  readonly onChoose: (path: string) => void;
  readonly onClose: () => void;
}

function Listing({ listing, onGo, onChoose, onClose }: ListingProps): ReactElement {
  const choose = (): void => {
    onChoose(listing.path);
    onClose();
  };
  const { parent } = listing;
  return (
    <div className="picker">
      <div className="row">
        <code>{listing.path}</code>
        <button type="button" className="button primary" onClick={choose}>
          Choose this
        </button>
      </div>
      <ul>
        {parent !== null && (
          <li>
            <button type="button" className="plain" onClick={() => onGo(parent)}>
              .. (up)
            </button>
          </li>
        )}
        {listing.directories.map(({ name, path, isGitRepository }) => (
          <li key={path}>
            <button type="button" className="plain" onClick={() => onGo(path)}>
              {name}
              {isGitRepository && <span className="quiet"> git</span>}
            </button>
          </li>
        ))}
      </ul>
      {listing.omittedCount > 0 && <p className="quiet">and {listing.omittedCount} more; type the path instead</p>}
    </div>
  );
}
