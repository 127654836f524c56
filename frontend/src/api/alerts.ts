import { infiniteQueryOptions } from "@tanstack/react-query";
import { call } from "./client";
import { apiQuery, useApiMutation } from "./requests";
import type {
  AlertPage,
  ChannelEdit,
  DeliveryPage,
  NewChannel,
  NewScoreRule,
  RuleEdit,
  RuleKind,
} from "./types";

export interface AlertFilters {
  unread: boolean;
  kind: RuleKind | null;
}

export const alertKeys = {
  all: ["alerts"] as const,
  newest: ["alerts", "newest"] as const,
  list: (filters: AlertFilters) => ["alerts", "list", filters] as const,
  rules: ["alerts", "rules"] as const,
  scores: ["alerts", "scores"] as const,
  channels: ["alerts", "channels"] as const,
  deliveries: ["alerts", "deliveries"] as const,
};

/** The newest unread alerts, and the number of all unread ones. */
export const newestAlertsQuery = apiQuery(alertKeys.newest, "/api/v1/alerts", {
  query: { unread: true, limit: 20 },
});

export const alertsQuery = (filters: AlertFilters) =>
  infiniteQueryOptions({
    queryKey: alertKeys.list(filters),
    queryFn: ({ pageParam, signal }): Promise<AlertPage> => {
      const kind = filters.kind ? [filters.kind] : [];
      const query = { unread: filters.unread, kind, before: pageParam };
      return call("get", "/api/v1/alerts", { params: { query }, signal });
    },
    initialPageParam: null as number | null,
    getNextPageParam: (last) => last.next_cursor,
  });

export const alertRulesQuery = apiQuery(alertKeys.rules, "/api/v1/alert-rules");

export const scoreRulesQuery = apiQuery(alertKeys.scores, "/api/v1/score-rules");

export const alertChannelsQuery = apiQuery(alertKeys.channels, "/api/v1/alert-channels");

export const deliveriesQuery = infiniteQueryOptions({
  queryKey: alertKeys.deliveries,
  queryFn: ({ pageParam, signal }): Promise<DeliveryPage> =>
    call("get", "/api/v1/alert-deliveries", { params: { query: { before: pageParam, limit: 20 } }, signal }),
  initialPageParam: null as number | null,
  getNextPageParam: (last) => last.next_cursor,
});

/** Mark alerts as read: some, or all up to one. */
export function useMarkRead() {
  return useApiMutation(
    (body: { ids: number[] } | { up_to: number }) => call("post", "/api/v1/alerts/read", { body }),
    { refetch: [alertKeys.all] },
  );
}

/** Switch a kind of alert on or off, or change its threshold. */
export function useEditRule() {
  return useApiMutation(
    ({ kind, ...body }: RuleEdit & { kind: RuleKind }) =>
      call("patch", "/api/v1/alert-rules/{kind}", { params: { path: { kind } }, body }),
    { refetch: [alertKeys.rules], refetchOnError: true },
  );
}

export function useAddScore() {
  return useApiMutation((body: NewScoreRule) => call("post", "/api/v1/score-rules", { body }), {
    refetch: [alertKeys.scores],
  });
}

export function useRemoveScore() {
  return useApiMutation(
    (id: number) => call("delete", "/api/v1/score-rules/{rule_id}", { params: { path: { rule_id: id } } }),
    { refetch: [alertKeys.scores], refetchOnError: true },
  );
}

/** Add a channel. The form shows its errors itself. */
export function useAddChannel() {
  return useApiMutation((body: NewChannel) => call("post", "/api/v1/alert-channels", { body }), {
    refetch: [alertKeys.channels],
    ownErrors: true,
  });
}

export function useEditChannel() {
  return useApiMutation(
    ({ id, ...body }: ChannelEdit & { id: number }) =>
      call("patch", "/api/v1/alert-channels/{channel_id}", { params: { path: { channel_id: id } }, body }),
    { refetch: [alertKeys.channels], refetchOnError: true },
  );
}

export function useRemoveChannel() {
  return useApiMutation(
    (id: number) =>
      call("delete", "/api/v1/alert-channels/{channel_id}", { params: { path: { channel_id: id } } }),
    { refetch: [alertKeys.all], refetchOnError: true },
  );
}

/** Send a test alert to a channel. Its outcome appears in the history. */
export function useTestChannel() {
  return useApiMutation(
    (id: number) =>
      call("post", "/api/v1/alert-channels/{channel_id}/test", { params: { path: { channel_id: id } } }),
    { refetch: [alertKeys.all], refetchOnError: true },
  );
}

export function useSendAgain() {
  return useApiMutation(
    (id: number) =>
      call("post", "/api/v1/alert-deliveries/{delivery_id}/redeliver", {
        params: { path: { delivery_id: id } },
      }),
    { refetch: [alertKeys.all], refetchOnError: true },
  );
}
