import { useSignal } from '@preact/signals';
import { addressOf } from '../../frame/found.ts';
import { route } from '../../frame/route.ts';
import { count } from '../../parts/amounts.ts';
import { Badge } from '../../parts/badge.tsx';
import { Id } from '../../parts/copy.tsx';
import { Dialog } from '../../parts/dialog.tsx';
import { Listing } from '../../parts/listing.tsx';
import { type Offer, Offers } from '../../parts/offers.tsx';
import { Facts, Page } from '../../parts/page.tsx';
import { Choices, Table } from '../../parts/table.tsx';
import { When } from '../../parts/times.tsx';
import { t } from '../../texts/en.ts';

const words = t.audit;

interface Finding {
  svc_id: string;
  check: string;
  status: 'open' | 'acknowledged' | 'resolved';
  resource_type: string;
  svc_resource_id: string;
  expected: string | null;
  actual: string | null;
  details: Record<string, unknown>;
  first_seen_at: string;
  last_seen_at: string;
  note: string | null;
}

interface Run {
  svc_id: string;
  mode: string;
  status: string;
  findings_count: number;
  new_findings_count: number;
  checks: { code: string; count: number; new_count: number; ms: number }[];
  created_at: string;
  finished_at: string | null;
}

const runsAudit: Offer = {
  text: words.run,
  needs: 'audit',
  isMain: true,
  about: words.runAbout,
  command: () => ({ method: 'POST', path: '/audits' }),
};

/** Are the books right? */
export default function Audit() {
  const isRuns = route.value.query.get('show') === 'runs';
  return (
    <Page title={words.title} under={words.under} actions={<Offers of={[runsAudit]} />}>
      <div class="bar">
        <Choices
          label={words.which}
          name="show"
          options={[
            ['', words.findings],
            ['runs', words.runs],
          ]}
        />
      </div>
      {isRuns ? <Runs /> : <Findings />}
    </Page>
  );
}

function Findings() {
  const opened = useSignal<Finding | undefined>(undefined);
  const status = route.value.query.get('status') ?? 'open';
  return (
    <>
      <div class="bar">
        <Choices
          label={words.state}
          name="status"
          options={[
            ['', words.open],
            ['acknowledged', words.acknowledged],
            ['resolved', words.resolved],
          ]}
        />
      </div>
      <Listing<Finding>
        path="/audits/findings"
        root="audit_findings"
        filters={{ statuses: [status] }}
        label={words.findings}
        columns={[
          {
            head: words.check,
            cell: (finding) => (
              <button
                type="button"
                class="quiet small"
                onClick={() => {
                  opened.value = finding;
                }}
              >
                {finding.check}
              </button>
            ),
          },
          { head: words.record, cell: (finding) => <RecordOf finding={finding} /> },
          { head: words.expected, cell: ({ expected }) => expected ?? '–', isNumber: true },
          { head: words.actual, cell: ({ actual }) => actual ?? '–', isNumber: true },
          { head: words.since, cell: ({ first_seen_at }) => <When at={first_seen_at} />, isExtra: true },
          { head: t.page.do, cell: (finding) => <Offers isSmall of={[acknowledges(finding)]} /> },
        ]}
        empty={{ title: words.none, children: <p class="soft">{words.noneHint}</p> }}
      />
      {opened.value && (
        <Dialog
          title={words.finding(opened.value.check)}
          onClose={() => {
            opened.value = undefined;
          }}
        >
          <Facts
            of={[
              [words.record, <RecordOf finding={opened.value} />],
              [words.expected, opened.value.expected],
              [words.actual, opened.value.actual],
              [words.since, <When at={opened.value.first_seen_at} />],
              [words.last, <When at={opened.value.last_seen_at} />],
              [words.note, opened.value.note],
            ]}
          />
          <pre class="json">{JSON.stringify(opened.value.details, null, 2)}</pre>
        </Dialog>
      )}
    </>
  );
}

/** `CreditNote` as the types of the search are written. */
const typeOf = (resource: string): string => resource.replace(/(?<=.)[A-Z]/g, '_$&').toLowerCase();

function RecordOf({ finding: { resource_type, svc_resource_id } }: { finding: Finding }) {
  const byId = ['invoice', 'credit_note', 'payment', 'wallet'].includes(typeOf(resource_type));
  const href = byId ? addressOf({ type: typeOf(resource_type), path: `/${svc_resource_id}` }) : undefined;
  const text = resource_type.replace(/(?<=.)[A-Z]/g, ' $&').toLowerCase();
  return href ? (
    <a href={href}>{text}</a>
  ) : (
    <>
      {text} <Id of={svc_resource_id} />
    </>
  );
}

const acknowledges = ({ svc_id, status }: Finding): Offer | false =>
  status === 'open' && {
    text: words.acknowledge,
    needs: 'audit',
    about: words.acknowledgeAbout,
    fields: [{ name: 'note', label: words.note, type: 'textarea' }],
    command: ({ note }) => ({
      method: 'PUT',
      path: `/audits/findings/${svc_id}`,
      body: { audit_finding: { status: 'acknowledged', ...(note ? { note } : {}) } },
    }),
  };

function Runs() {
  const opened = useSignal<Run | undefined>(undefined);
  return (
    <>
      <Listing<Run>
        path="/audits"
        root="audits"
        everySeconds={5}
        label={words.runs}
        columns={[
          { head: words.began, cell: ({ created_at }) => <When at={created_at} /> },
          { head: words.mode, cell: ({ mode }) => words.modes[mode] ?? mode },
          { head: words.state, cell: ({ status }) => <Badge of={status} /> },
          { head: words.findings, cell: (run) => count(run.findings_count), isNumber: true },
          { head: words.newOnes, cell: (run) => count(run.new_findings_count), isNumber: true, isExtra: true },
          {
            head: words.checks,
            cell: (run) => (
              <button
                type="button"
                class="quiet small"
                onClick={() => {
                  opened.value = run;
                }}
              >
                {words.checksCount(run.checks.length)}
              </button>
            ),
            isExtra: true,
          },
        ]}
        empty={{ title: words.noRuns, children: <p class="soft">{words.noRunsHint}</p> }}
      />
      {opened.value && (
        <Dialog
          title={words.checks}
          onClose={() => {
            opened.value = undefined;
          }}
        >
          <Table
            label={words.checks}
            rows={opened.value.checks}
            keyOf={({ code }) => code}
            columns={[
              { head: words.check, cell: ({ code }) => code },
              { head: words.findings, cell: (check) => count(check.count), isNumber: true },
              { head: words.took, cell: ({ ms }) => words.milliseconds(count(ms)), isNumber: true },
            ]}
          />
        </Dialog>
      )}
    </>
  );
}
