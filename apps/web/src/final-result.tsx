import type { FinalResult as Result } from '@stint/contracts';
import type { ReactElement } from 'react';
import { RichText } from './rich-text.js';

/** What the item ended with: summary, outputs, what to watch out for. */
export function FinalResult({ result }: { readonly result: Result }): ReactElement {
  return (
    <section className="card card-done" aria-labelledby="result-title">
      <h2 id="result-title">Result</h2>
      <RichText text={result.summary} />
      {result.outputs.map((output) => (
        <div key={`${output.kind}:${output.value}`}>
          <div className="quiet">{output.kind.replaceAll('_', ' ')}</div>
          <RichText text={output.value} />
        </div>
      ))}
      {result.residualRisks.length > 0 && (
        <>
          <h3>What remains uncertain</h3>
          <ul>
            {result.residualRisks.map((risk) => (
              <li key={risk}>{risk}</li>
            ))}
          </ul>
        </>
      )}
    </section>
  );
}
