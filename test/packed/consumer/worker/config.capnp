using Workerd = import "/workerd/workerd.capnp";

const config :Workerd.Config = (services = [(name = "limited", worker = .limited)]);

const limited :Workerd.Worker = (
  modules = [(name = "worker", esModule = embed "bundle.mjs")],
  compatibilityDate = "2026-01-01",
);
