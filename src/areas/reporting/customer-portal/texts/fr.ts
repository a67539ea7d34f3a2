import type { PortalTexts } from './portal-texts.ts';

export const fr: PortalTexts = {
  title: 'Facturation',
  balance: 'Solde',
  due: 'À payer',
  overdue: 'En retard',
  subscriptions: 'Abonnements',
  states: {
    active: 'Actif',
    pending: 'Débute plus tard',
    incomplete: 'En attente de paiement',
    terminated: 'Terminé',
  },
  nextBilling: 'Prochaine facturation le {date}',
  startsOn: 'Débute le {date}',
  endsOn: 'Se termine le {date}',
  endedOn: 'Terminé le {date}',
  usage: 'Consommation en cours',
  usageUnknown: 'La consommation ne peut pas être affichée pour le moment.',
  credits: '{credits} crédits',
  afterUsage: '{amount} après la consommation en cours',
  expiresOn: 'Expire le {date}',
  invoices: 'Factures',
  receipts: 'Reçus de paiement',
  payment: {
    paid: 'Payée',
    settled: 'Soldée',
    underWay: 'Paiement en cours',
    partlyPaid: 'Payée en partie',
    overdue: 'En retard',
    failed: 'Paiement échoué',
    open: 'À payer',
  },
  pay: 'Payer',
  download: 'Télécharger le PDF',
  left: 'Reste {amount}',
  nothing: 'Rien pour le moment.',
  newer: 'Plus récents',
  older: 'Plus anciens',
  back: 'Retour à l’aperçu',
  notices: {
    preparing: {
      title: 'Votre document est en préparation',
      text: 'Cette page le chargera d’elle-même dans quelques secondes.',
    },
    unauthorized: {
      title: 'Ce lien n’est plus valable',
      text: 'Demandez un nouveau lien à votre fournisseur.',
    },
    notFound: {
      title: 'Cette page n’existe pas',
      text: 'Ce que vous cherchez n’est pas ici.',
    },
    tooMany: {
      title: 'Trop de requêtes',
      text: 'Patientez un instant, puis rechargez la page.',
    },
    failed: {
      title: 'Une erreur est survenue',
      text: 'Réessayez dans quelques minutes.',
    },
  },
};
