import EngageCommands

EngageBatch.main()
