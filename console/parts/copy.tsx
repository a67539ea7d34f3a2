import { useState } from 'preact/hooks';
import { announce } from '../frame/live-region.tsx';
import { t } from '../texts/en.ts';

export async function copyText(text: string): Promise<void> {
  await navigator.clipboard.writeText(text).catch(() => undefined);
  announce(t.parts.copied);
}

/** A button that copies a text. */
export function Copy({ text, label = t.parts.copy }: { text: string; label?: string }) {
  const [isCopied, setCopied] = useState(false);
  const copy = async () => {
    await copyText(text);
    setCopied(true);
    setTimeout(() => setCopied(false), 1500);
  };
  return (
    <button type="button" class="icon" aria-label={label} title={label} onClick={() => void copy()}>
      <svg
        viewBox="0 0 16 16"
        width="14"
        height="14"
        aria-hidden="true"
        fill="none"
        stroke="currentColor"
        stroke-width="1.5"
      >
        {isCopied ? (
          <path d="M3 8.5l3.2 3.2L13 5" />
        ) : (
          <>
            <rect x="5.5" y="5.5" width="8" height="8" rx="1.5" />
            <path d="M10.5 5.5v-2a1 1 0 0 0-1-1h-6a1 1 0 0 0-1 1v6a1 1 0 0 0 1 1h2" />
          </>
        )}
      </svg>
    </button>
  );
}

/** An identifier with its button. */
export function Id({ of }: { of: string }) {
  return (
    <span class="id">
      <code>{of}</code>
      <Copy text={of} label={t.parts.copyOf(of)} />
    </span>
  );
}
