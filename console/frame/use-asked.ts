import { useSignal } from '@preact/signals';
import { useEffect } from 'preact/hooks';
import { ApiError, ask } from './api.ts';

const TYPE_PAUSE_MS = 300;

/** The answer to a question that is sent as a POST (estimates, previews), asked again while it is typed. */
export function useAsked<Answer>(
  path: string | null,
  body: unknown,
): { data: Answer | undefined; error: ApiError | undefined } {
  const state = useSignal<{ data: Answer | undefined; error: ApiError | undefined }>({
    data: undefined,
    error: undefined,
  });
  const key = path === null ? '' : `${path} ${JSON.stringify(body)}`;
  useEffect(() => {
    if (path === null) {
      state.value = { data: undefined, error: undefined };
      return;
    }
    let isCurrent = true;
    const timer = setTimeout(() => {
      ask<Answer>(path, body).then(
        (data) => {
          if (isCurrent) state.value = { data, error: undefined };
        },
        (error) => {
          if (!(error instanceof ApiError)) throw error;
          if (isCurrent) state.value = { data: undefined, error };
        },
      );
    }, TYPE_PAUSE_MS);
    return () => {
      isCurrent = false;
      clearTimeout(timer);
    };
  }, [key]);
  return state.value;
}
