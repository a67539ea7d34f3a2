import type { ComponentChildren } from 'preact';
import { useState } from 'preact/hooks';
import { t } from '../texts/en.ts';
import { CurlLine } from './curl-line.tsx';
import { Dialog } from './dialog.tsx';

/** Where a figure comes from: the request, and the sentence of its formula. */
export interface Origin {
  path: string;
  formula: string;
  answer?: unknown;
}

/** A number with its label, its change and where it comes from. Rule: console.md#figures. */
export function Figure({
  label,
  value,
  change,
  note,
  tone,
  origin,
}: {
  label: string;
  value: ComponentChildren;
  change?: string | undefined;
  note?: ComponentChildren;
  tone?: 'bad' | 'good' | undefined;
  origin: Origin;
}) {
  const [isOpen, setOpen] = useState(false);
  return (
    <div class="figure">
      <span class="label">
        {label}
        <button type="button" class="icon why" aria-label={t.parts.originOf(label)} onClick={() => setOpen(true)}>
          ?
        </button>
      </span>
      <b class={tone ?? ''}>{value}</b>
      <span class="soft">
        {change && <span class={change.startsWith('+') ? 'up' : change.startsWith('−') ? 'down' : ''}>{change}</span>}{' '}
        {note}
      </span>
      {isOpen && (
        <Dialog title={label} onClose={() => setOpen(false)}>
          <p>{origin.formula}</p>
          <CurlLine request={{ method: 'GET', path: origin.path }} />
          {origin.answer !== undefined && <pre class="json">{JSON.stringify(origin.answer, null, 2)}</pre>}
          <p class="soft">
            <a href="/docs" target="_blank" rel="noreferrer">
              {t.parts.reference}
            </a>
          </p>
        </Dialog>
      )}
    </div>
  );
}
