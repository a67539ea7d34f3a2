import { useSignal } from '@preact/signals';
import { useEffect } from 'preact/hooks';
import { ApiError } from '../../frame/api.ts';
import { announce } from '../../frame/live-region.tsx';
import { guardLeaving } from '../../frame/route.ts';
import { can, organization } from '../../frame/session.ts';
import { readAllAgain } from '../../frame/use-read.ts';
import { Failure } from '../../parts/states.tsx';
import { t } from '../../texts/en.ts';

const words = t.home.demo;

const NEEDS = ['billable_metric', 'plan', 'customer', 'subscription', 'event', 'payment', 'test_clock'];
const STEPS = ['catalog', 'customers', 'usage', 'months', 'payments'] as const;

/** Fills a sandbox with an example; elsewhere it says how one is made beside it. */
export function DemoButton() {
  const at = useSignal<{ step: (typeof STEPS)[number]; part: number } | undefined>(undefined);
  const error = useSignal<ApiError | undefined>(undefined);
  useEffect(() => guardLeaving(() => at.peek() === undefined || confirm(words.leave)), []);
  if (!organization.value?.sandbox || !NEEDS.every((resource) => can(resource, 'write')))
    return (
      <p class="soft">
        {words.elsewhere} <code>{words.command}</code>
      </p>
    );
  const begin = async () => {
    error.value = undefined;
    at.value = { step: 'catalog', part: 0 };
    try {
      // Most who come here never make one: its data are loaded when it is asked for.
      const { makeDemo } = await import('./demo.ts');
      await makeDemo((step, part) => {
        at.value = { step, part };
      });
      announce(words.done);
    } catch (caught) {
      if (!(caught instanceof ApiError)) throw caught;
      error.value = caught;
    } finally {
      at.value = undefined;
      await readAllAgain();
    }
  };
  const now = at.value;
  return (
    <>
      <p class="soft">{words.about}</p>
      {error.value && <Failure error={error.value} />}
      {now ? (
        <p class="bar after" role="status">
          <progress max={STEPS.length} value={STEPS.indexOf(now.step) + now.part} aria-label={words.progress} />
          {words.steps[now.step]}
        </p>
      ) : (
        <p class="bar after">
          <button type="button" onClick={() => void begin()}>
            {words.begin}
          </button>
        </p>
      )}
    </>
  );
}
