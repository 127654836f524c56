import { infiniteQueryOptions, queryOptions, useMutation, useQueryClient } from "@tanstack/react-query";
import { call } from "./client";
import { OWN_ERRORS } from "./mutationState";
import type {
  AddedChannel,
  AlertChannel,
  AlertDelivery,
  AlertPage,
  AlertRule,
  ChannelEdit,
  DeliveryPage,
  NewChannel,
  NewScoreRule,
  RuleEdit,
  RuleKind,
  ScoreRule,
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
export const newestAlertsQuery = queryOptions({
  queryKey: alertKeys.newest,
  queryFn: ({ signal }): Promise<AlertPage> =>
    call("get", "/api/v1/alerts", { params: { query: { unread: true, limit: 20 } }, signal }),
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

export const alertRulesQuery = queryOptions({
  queryKey: alertKeys.rules,
  queryFn: ({ signal }): Promise<AlertRule[]> => call("get", "/api/v1/alert-rules", { signal }),
});

export const scoreRulesQuery = queryOptions({
  queryKey: alertKeys.scores,
  queryFn: ({ signal }): Promise<ScoreRule[]> => call("get", "/api/v1/score-rules", { signal }),
});

export const alertChannelsQuery = queryOptions({
  queryKey: alertKeys.channels,
  queryFn: ({ signal }): Promise<AlertChannel[]> => call("get", "/api/v1/alert-channels", { signal }),
});

export const deliveriesQuery = infiniteQueryOptions({
  queryKey: alertKeys.deliveries,
  queryFn: ({ pageParam, signal }): Promise<DeliveryPage> =>
    call("get", "/api/v1/alert-deliveries", { params: { query: { before: pageParam, limit: 20 } }, signal }),
  initialPageParam: null as number | null,
  getNextPageParam: (last) => last.next_cursor,
});

/** Return a function that fetches everything about alerts again. */
function useRefetch(queryKey: readonly string[] = alertKeys.all) {
  const client = useQueryClient();
  return () => client.invalidateQueries({ queryKey });
}

/** Mark alerts as read: some, or all up to one. */
export function useMarkRead() {
  const onSuccess = useRefetch();
  return useMutation({
    mutationFn: (body: { ids: number[] } | { up_to: number }) =>
      call("post", "/api/v1/alerts/read", { body }),
    onSuccess,
  });
}

/** Switch a kind of alert on or off, or change its threshold. */
export function useEditRule() {
  const onSettled = useRefetch(alertKeys.rules);
  return useMutation({
    mutationFn: ({ kind, ...body }: RuleEdit & { kind: RuleKind }): Promise<AlertRule> =>
      call("patch", "/api/v1/alert-rules/{kind}", { params: { path: { kind } }, body }),
    onSettled,
  });
}

export function useAddScore() {
  const onSuccess = useRefetch(alertKeys.scores);
  return useMutation({
    mutationFn: (body: NewScoreRule): Promise<ScoreRule> => call("post", "/api/v1/score-rules", { body }),
    onSuccess,
  });
}

export function useRemoveScore() {
  const onSettled = useRefetch(alertKeys.scores);
  return useMutation({
    mutationFn: (id: number) =>
      call("delete", "/api/v1/score-rules/{rule_id}", { params: { path: { rule_id: id } } }),
    onSettled,
  });
}

/** Add a channel. The form shows its errors itself. */
export function useAddChannel() {
  const onSuccess = useRefetch(alertKeys.channels);
  return useMutation({
    mutationFn: (body: NewChannel): Promise<AddedChannel> => call("post", "/api/v1/alert-channels", { body }),
    meta: OWN_ERRORS,
    onSuccess,
  });
}

export function useEditChannel() {
  const onSettled = useRefetch(alertKeys.channels);
  return useMutation({
    mutationFn: ({ id, ...body }: ChannelEdit & { id: number }): Promise<AlertChannel> =>
      call("patch", "/api/v1/alert-channels/{channel_id}", { params: { path: { channel_id: id } }, body }),
    onSettled,
  });
}

export function useRemoveChannel() {
  const onSettled = useRefetch();
  return useMutation({
    mutationFn: (id: number) =>
      call("delete", "/api/v1/alert-channels/{channel_id}", { params: { path: { channel_id: id } } }),
    onSettled,
  });
}

/** Send a test alert to a channel. Its outcome appears in the history. */
export function useTestChannel() {
  const onSettled = useRefetch();
  return useMutation({
    mutationFn: (id: number): Promise<AlertDelivery> =>
      call("post", "/api/v1/alert-channels/{channel_id}/test", { params: { path: { channel_id: id } } }),
    onSettled,
  });
}

export function useSendAgain() {
  const onSettled = useRefetch();
  return useMutation({
    mutationFn: (id: number): Promise<AlertDelivery> =>
      call("post", "/api/v1/alert-deliveries/{delivery_id}/redeliver", {
        params: { path: { delivery_id: id } },
      }),
    onSettled,
  });
}
