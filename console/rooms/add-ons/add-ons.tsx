import { route, to } from '../../frame/route.ts';
import { useRead } from '../../frame/use-read.ts';
import { money } from '../../parts/amounts.ts';
import { Id } from '../../parts/copy.tsx';
import { Listing } from '../../parts/listing.tsx';
import { Offers } from '../../parts/offers.tsx';
import { Facts, Page } from '../../parts/page.tsx';
import { Shown } from '../../parts/states.tsx';
import { When } from '../../parts/times.tsx';
import { t } from '../../texts/en.ts';
import { type AddOn, addOnPath, billsAddOn, deletesAddOn, editsAddOn, makesAddOn } from './offers.ts';

const words = t.addOns;

export default function AddOns() {
  const { id } = route.value;
  return id === undefined ? <List /> : <AddOnPage key={id} code={id} />;
}

/** What do we sell once? */
function List() {
  return (
    <Page title={words.title} under={words.under} actions={<Offers of={[makesAddOn()]} />}>
      <Listing<AddOn>
        path="/add_ons"
        root="add_ons"
        label={words.title}
        columns={[
          { head: words.name, cell: ({ name }) => name },
          { head: words.code, cell: ({ code }) => <code>{code}</code> },
          { head: words.amount, cell: (addOn) => money(addOn.amount_cents, addOn.amount_currency), isNumber: true },
          { head: words.description, cell: ({ description }) => description, isExtra: true },
        ]}
        href={({ code }) => to('add-ons', code)}
        empty={{ title: words.none, children: <p class="soft">{words.noneHint}</p> }}
      />
    </Page>
  );
}

function AddOnPage({ code }: { code: string }) {
  const reading = useRead<{ add_on: AddOn }>(addOnPath(code));
  return (
    <Shown of={reading} rows={5}>
      {({ add_on: addOn }) => (
        <Page
          title={addOn.name}
          back={{ href: to('add-ons'), text: words.title }}
          under={<Id of={addOn.code} />}
          actions={<Offers of={[billsAddOn(addOn), editsAddOn(addOn), deletesAddOn(addOn)]} />}
        >
          <div class="card padded">
            <Facts
              of={[
                [words.amount, money(addOn.amount_cents, addOn.amount_currency)],
                [words.displayName, addOn.invoice_display_name ?? addOn.name],
                [words.taxes, addOn.taxes?.map(({ name }) => name).join(', ') || words.noTaxes],
                [words.description, addOn.description],
                [t.page.made, <When at={addOn.created_at} />],
                [t.page.id, <Id of={addOn.svc_id} />],
              ]}
            />
          </div>
        </Page>
      )}
    </Shown>
  );
}
