import { can } from '../../frame/session.ts';
import { useRead } from '../../frame/use-read.ts';
import { CommandForm } from '../../parts/form.tsx';
import { Facts } from '../../parts/page.tsx';
import { Shown } from '../../parts/states.tsx';
import { t } from '../../texts/en.ts';
import { type Configuration, type Issuer, issuerBody, issuerFields, issuerValues } from './issuer-fields.ts';

export type Organization = Issuer & { slug: string; billing_configuration: Configuration };

const whole = ({ billing_configuration, ...organization }: Organization) => ({
  ...organization,
  ...billing_configuration,
});

/** The organization itself: what its documents say unless a billing entity says otherwise. */
export function OrganizationSettings() {
  const reading = useRead<{ organization: Organization }>('/organizations');
  return (
    <Shown of={reading} rows={8}>
      {({ organization }) => {
        const before = issuerValues(whole(organization));
        if (!can('organization', 'write'))
          return (
            <div class="card padded">
              <Facts of={issuerFields(whole(organization)).map(({ label, value }) => [label, value] as const)} />
            </div>
          );
        return (
          <div class="card padded wide-form">
            <CommandForm
              submit={t.page.save}
              fields={issuerFields(whole(organization))}
              stored={{
                path: '/organizations',
                valuesOf: (answer: { organization: Organization }) => issuerValues(whole(answer.organization)),
              }}
              command={(values) => ({
                method: 'PUT',
                path: '/organizations',
                body: { organization: issuerBody(values, before) },
              })}
            />
          </div>
        );
      }}
    </Shown>
  );
}
