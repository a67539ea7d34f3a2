import { type Filters, route } from '../../frame/route.ts';
import { Empty } from '../../parts/states.tsx';
import { Choices, DateField } from '../../parts/table.tsx';
import { t } from '../../texts/en.ts';

const words = t.ledger;

/** The day at whose end balances are read; the basis matters for past days only, as the present has everything. */
export function AtDay() {
  return (
    <div class="bar">
      <DateField label={words.at} name="at" />
      {route.value.query.get('at') && (
        <Choices
          label={words.basis}
          name="basis"
          options={[
            ['', words.booked],
            ['document', words.document],
          ]}
        />
      )}
    </div>
  );
}

export const balancesAsked = (): Filters => {
  const { query } = route.value;
  return { at: query.get('at'), basis: query.get('at') ? query.get('basis') : undefined };
};

/** No balances: nothing was booked at all, or nothing until the day that is chosen. */
export function NothingBooked() {
  return (
    <Empty title={words.none}>
      <p class="soft">{route.value.query.get('at') ? words.noneUntilHint : words.noneHint}</p>
    </Empty>
  );
}
