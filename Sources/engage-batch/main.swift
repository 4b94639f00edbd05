import EngageCommands

engageBatch()
