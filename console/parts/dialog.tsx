import type { ComponentChildren } from 'preact';
import { useLayoutEffect, useRef } from 'preact/hooks';
import { t } from '../texts/en.ts';

/** A window above the page that keeps the focus; Escape closes it. */
export function Dialog({
  title,
  onClose,
  children,
  isSide = false,
}: {
  title: string;
  onClose: () => void;
  children: ComponentChildren;
  isSide?: boolean;
}) {
  const element = useRef<HTMLDialogElement>(null);
  // Not an effect after painting: keys that are typed before the next frame belong to the window.
  useLayoutEffect(() => {
    const dialog = element.current;
    const before = document.activeElement as HTMLElement | null;
    dialog?.showModal();
    return () => {
      dialog?.close();
      before?.focus?.();
    };
  }, []);
  return (
    <dialog
      ref={element}
      class={isSide ? 'side' : ''}
      aria-label={title}
      onCancel={(event) => {
        event.preventDefault();
        onClose();
      }}
      onClick={(event) => event.target === element.current && onClose()}
    >
      <div class="window">
        <header>
          <h2>{title}</h2>
          <button type="button" class="icon" aria-label={t.parts.close} onClick={onClose}>
            ✕
          </button>
        </header>
        {children}
      </div>
    </dialog>
  );
}
