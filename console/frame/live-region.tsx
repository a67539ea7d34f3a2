import { signal } from '@preact/signals';

const words = signal('');

/** Tells readers who listen what has changed. */
export function announce(text: string): void {
  words.value = '';
  setTimeout(() => {
    words.value = text;
  }, 50);
}

export function LiveRegion() {
  return (
    <div class="unseen" role="status" aria-live="polite">
      {words.value}
    </div>
  );
}
