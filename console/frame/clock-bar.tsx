import { useSignal } from '@preact/signals';
import { useEffect } from 'preact/hooks';
import { faultWords } from '../parts/fault-words.ts';
import { Action, FormDialog } from '../parts/form.tsx';
import { moved } from '../parts/moved.ts';
import { sentenceOf } from '../parts/states.tsx';
import { t } from '../texts/en.ts';
import { ApiError, write } from './api.ts';
import { ClockDrawer } from './clock-drawer.tsx';
import { isClockAdvancing } from './clock-state.ts';
import { announce } from './live-region.tsx';
import { to } from './route.ts';
import { can } from './session.ts';
import { readAllAgain, useRead } from './use-read.ts';

export interface TestClock {
  frozen_time: string;
  target_time: string | null;
  status: 'ready' | 'advancing' | 'failed';
  progress?: { percent: number } | null;
  percent?: number | null;
  next_billing_at?: string | null;
}

const STEPS = [
  [t.frame.plusDay, { days: 1 }],
  [t.frame.plusWeek, { days: 7 }],
  [t.frame.plusMonth, { months: 1 }],
] as const;

const SHOWN = new Intl.DateTimeFormat(globalThis.navigator?.language ?? 'en', {
  dateStyle: 'medium',
  timeStyle: 'short',
  timeZone: 'UTC',
});

const REFRESHED_MS = 2000;

/** The simulated time of a sandbox at the foot of every page, and the buttons that move it. */
export function ClockBar() {
  const isMoving = useSignal(false);
  const { data, error } = useRead<{ test_clock: TestClock }>(can('test_clock') ? '/test_clock' : null, {
    everySeconds: isMoving.value ? 1 : 30,
  });
  const clock = data?.test_clock;
  const isAdvancing = clock?.status === 'advancing';
  const fault = useSignal<string | undefined>(undefined);
  const isDrawerOpen = useSignal(false);
  useEffect(() => {
    isClockAdvancing.value = isAdvancing;
    if (!isAdvancing) return;
    // The page shows what the clock has made of it so far.
    const timer = setInterval(() => {
      if (document.visibilityState === 'visible') void readAllAgain();
    }, REFRESHED_MS);
    return () => clearInterval(timer);
  }, [isAdvancing]);
  useEffect(
    () => () => {
      isClockAdvancing.value = false;
    },
    [],
  );
  useEffect(() => {
    if (isMoving.value && clock && !isAdvancing) {
      isMoving.value = false;
      void readAllAgain();
      announce(t.frame.clockStandsAt(SHOWN.format(new Date(clock.frozen_time))));
    } else if (isAdvancing) isMoving.value = true;
  }, [clock?.status, clock?.frozen_time]);
  if (error?.status === 404 && can('test_clock', 'write')) return <NoClock />;
  if (!clock) return null;

  const advance = async (frozenTime: string) => {
    fault.value = undefined;
    isMoving.value = true;
    try {
      await write('POST', '/test_clock/advance', { test_clock: { frozen_time: frozenTime } });
    } catch (caught) {
      if (!(caught instanceof ApiError)) throw caught;
      const codes = Object.values(caught.details).flat().map(faultWords);
      fault.value = codes.length === 0 ? sentenceOf(caught) : codes.join(', ');
      isMoving.value = false;
    }
    await readAllAgain();
  };
  const percent = clock.progress?.percent ?? clock.percent;
  return (
    <aside class="clock-bar" aria-label={t.frame.testClock}>
      <a href={to('clock')} class="time">
        <span aria-hidden="true">◷</span>
        <time dateTime={clock.frozen_time}>
          {SHOWN.format(new Date(clock.frozen_time))}
          {t.frame.utc}
        </time>
      </a>
      <button
        type="button"
        class="quiet"
        aria-expanded={isDrawerOpen.value}
        onClick={() => {
          isDrawerOpen.value = !isDrawerOpen.value;
        }}
      >
        {t.frame.whatHappens}
      </button>
      {isAdvancing ? (
        <>
          <progress max={100} value={percent ?? undefined} aria-label={t.frame.clockProgress} />
          <span class="soft">
            {t.frame.clockTarget}
            {clock.target_time && SHOWN.format(new Date(clock.target_time))}
          </span>
          <button
            type="button"
            class="quiet"
            onClick={() => void write('POST', '/test_clock/cancel').then(readAllAgain)}
          >
            {t.frame.clockStop}
          </button>
        </>
      ) : (
        can('test_clock', 'write') && (
          <span class="steps">
            {STEPS.map(([text, by]) => (
              <button
                key={text}
                type="button"
                disabled={isMoving.value}
                onClick={() => void advance(moved(clock.frozen_time, by))}
              >
                {text}
              </button>
            ))}
            {clock.next_billing_at && (
              <button
                type="button"
                disabled={isMoving.value}
                onClick={() => void advance(moved(clock.next_billing_at!, { hours: 1 }))}
              >
                {t.frame.nextBilling}
              </button>
            )}
            <Action text={t.frame.moveToMore}>
              {(close) => (
                <FormDialog
                  title={t.frame.moveTitle}
                  submit={t.frame.move}
                  fields={[
                    {
                      name: 'frozen_time',
                      label: t.frame.moveTo,
                      type: 'datetime-local',
                      value: moved(clock.frozen_time, { months: 1 }).slice(0, 19),
                    },
                  ]}
                  command={({ frozen_time }) => ({
                    method: 'POST',
                    path: '/test_clock/advance',
                    body: { test_clock: { frozen_time: `${frozen_time}Z` } },
                  })}
                  onClose={close}
                  onDone={() => {
                    isMoving.value = true;
                  }}
                />
              )}
            </Action>
          </span>
        )
      )}
      {clock.status === 'failed' && (
        <>
          <span class="badge bad">{t.frame.clockFailed}</span>
          <button type="button" onClick={() => void write('POST', '/test_clock/retry').then(readAllAgain)}>
            {t.frame.clockRetry}
          </button>
        </>
      )}
      {fault.value && <span class="fault">{fault.value}</span>}
      {isDrawerOpen.value && <ClockDrawer isAdvancing={isAdvancing} />}
    </aside>
  );
}

/** A sandbox without a clock may get one. */
function NoClock() {
  return (
    <aside class="clock-bar" aria-label={t.frame.testClock}>
      <span class="soft">{t.frame.noClock}</span>
      <Action text={t.frame.makeClockMore}>
        {(close) => (
          <FormDialog
            title={t.frame.makeClockTitle}
            submit={t.frame.makeClock}
            fields={[
              {
                name: 'frozen_time',
                label: t.frame.clockBegins,
                type: 'datetime-local',
                value: new Date().toISOString().slice(0, 19),
                hint: t.frame.clockBeginsHint,
              },
            ]}
            command={({ frozen_time }) => ({
              method: 'POST',
              path: '/test_clock',
              body: { test_clock: { frozen_time: `${frozen_time}Z` } },
            })}
            onClose={close}
          />
        )}
      </Action>
    </aside>
  );
}
