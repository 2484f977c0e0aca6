"""The cluster as the user's own kubectl sees it: raw JSON in, raw JSON out.

kubectl brings the user's contexts, exec plugins, proxies, impersonation and kuberc; this package
builds requests and reads answers, and has one transport.
"""
